//! A capability as a folder: `capability.json` and one source file. The same form as in
//! `capabilities/examples`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::{CapabilityVersion, GrantError, Grants, Language, NAME_RULE, TestCase, valid_name};
use crate::wire::api::Folder;

const DESCRIPTION: &str = "capability.json";

/// A capability read from a folder. Only its form is checked.
#[derive(Debug, PartialEq)]
pub(super) struct Read {
    pub(super) name: String,
    pub(super) description: String,
    language: Language,
    source: String,
    parameters: Map<String, Value>,
    grants: Option<Map<String, Value>>,
    tests: Vec<TestCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    description: String,
    language: Option<Language>,
    parameters: Map<String, Value>,
    grants: Option<Map<String, Value>>,
    #[serde(default)]
    tests: Vec<TestCase>,
}

impl Read {
    /// The arguments with which the agent itself would write it.
    pub(super) fn arguments(&self) -> Value {
        let mut arguments = json!({
            "name": self.name,
            "description": self.description,
            "language": self.language,
            "code": self.source,
            "parameters_schema": self.parameters,
            "tests": self.tests,
        });
        if let Some(grants) = &self.grants {
            arguments["grants"] = json!(grants);
        }
        arguments
    }

    /// The grants that it asks for.
    pub(super) fn grants(&self) -> Result<Grants, GrantError> {
        self.grants.as_ref().map_or_else(|| Ok(Grants::harmless()), Grants::from_json)
    }
}

/// Reads a folder.
///
/// # Errors
/// A sentence on the fault of the folder.
pub(super) fn read(folder: &Folder) -> Result<Read, String> {
    let described = match folder.get(DESCRIPTION) {
        Some(Value::String(text)) => serde_json::from_str(text),
        Some(object) => Description::deserialize(object),
        None => return Err(format!("there is no `{DESCRIPTION}`; a capability is that file and one named {}", sources())),
    };
    let described: Description = described.map_err(|error| format!("`{DESCRIPTION}` cannot be read: {error}"))?;
    if !valid_name(&described.name) {
        return Err(format!("`{}` cannot be the name: {NAME_RULE}", described.name));
    }
    let mut files = folder.iter().filter(|(name, _)| *name != DESCRIPTION);
    let (Some((file, source)), None) = (files.next(), files.next()) else {
        return Err(format!("beside `{DESCRIPTION}` there must be exactly one file, named {}", sources()));
    };
    let language = Language::ALL.iter().copied().find(|language| file_of(*language) == file);
    let language = language.ok_or_else(|| format!("`{file}` is no source; name it {}", sources()))?;
    if let Some(said) = described.language.filter(|said| *said != language) {
        return Err(format!("`{DESCRIPTION}` says the language is {said}, and `{file}` is {language}"));
    }
    let source = source.as_str().ok_or_else(|| format!("`{file}` must be text"))?.to_owned();
    let Description { name, description, parameters, grants, tests, .. } = described;
    Ok(Read { name, description, language, source, parameters, grants, tests })
}

/// Writes a folder that reads back as the same.
pub(super) fn write(capability: &CapabilityVersion) -> Folder {
    let described = json!({
        "name": capability.name,
        "description": capability.description,
        "language": capability.language,
        "parameters": capability.parameters,
        "grants": capability.grants,
        "tests": capability.tests,
    });
    let source = Value::from(capability.source.clone());
    [(DESCRIPTION.to_owned(), described), (file_of(capability.language).to_owned(), source)].into_iter().collect()
}

fn file_of(language: Language) -> &'static str {
    match language {
        Language::JavaScript => "source.js",
        Language::Wat => "source.wat",
        Language::Wasm => "source.wasm.base64",
    }
}

fn sources() -> String {
    let files: Vec<_> = Language::ALL.iter().map(|language| format!("`{}`", file_of(*language))).collect();
    files.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(change: impl FnOnce(&mut Value)) -> Folder {
        let mut folder = json!({
            "capability.json": {"name": "add", "description": "Adds.", "language": "javascript", "parameters": {"type": "object"},
                "grants": {"kv": {}}, "tests": [{"params": {}, "expect": 1}]},
            "source.js": "export default () => 1",
        });
        change(&mut folder);
        serde_json::from_value(folder).unwrap()
    }

    #[test]
    fn a_folder_becomes_the_arguments_of_write_capability() {
        let read = read(&folder(|_| {})).unwrap();
        let arguments = read.arguments();
        assert_eq!(arguments["code"], "export default () => 1");
        assert_eq!((&arguments["language"], &arguments["grants"]), (&json!("javascript"), &json!({"kv": {}})));
        assert_eq!(arguments["tests"], json!([{"params": {}, "expect": 1}]));
        assert_eq!(read.grants().unwrap().in_words(), ["Keep values of its own between calls."]);
    }

    #[test]
    fn what_is_left_out_is_left_to_the_defaults() {
        let short = folder(|f| f["capability.json"] = json!({"name": "add", "description": "Adds.", "parameters": {}}));
        let read = read(&short).unwrap();
        assert!(read.arguments().get("grants").is_none() && !read.grants().unwrap().need_approval());
        assert_eq!(read.arguments()["language"], "javascript");
    }

    #[test]
    fn a_written_folder_reads_back_as_the_same() {
        let version = CapabilityVersion {
            name: "add".into(),
            version: 3,
            description: "Adds.".into(),
            language: Language::Wasm,
            source: "AGFzbQ==".into(),
            parameters: json!({"type": "object"}),
            grants: serde_json::from_value(json!({"http": {"hosts": ["a.example"]}})).unwrap(),
            tests: Vec::new(),
            component: Vec::new(),
            sha256: String::new(),
            engine: String::new(),
        };
        let read = read(&write(&version)).unwrap();
        assert_eq!((read.language, read.source.as_str()), (Language::Wasm, "AGFzbQ=="));
        assert_eq!(read.grants().unwrap(), version.grants);
    }

    #[test]
    fn what_is_no_capability_is_refused_with_the_way_to_write_it() {
        type Change = fn(&mut Value);
        let cases: [(Change, &str); 8] = [
            (|f| *f = json!({}), "there is no `capability.json`"),
            (|f| f["capability.json"] = json!("{"), "`capability.json` cannot be read"),
            (|f| f["capability.json"]["nmae"] = json!(1), "nmae"),
            (|f| f["capability.json"]["name"] = json!("Not A Name"), "snake_case"),
            (|f| f["capability.json"]["language"] = json!("wat"), "says the language is wat"),
            (|f| f["source.wat"] = json!(""), "exactly one file"),
            (|f| f["source.js"] = json!(1), "`source.js` must be text"),
            (|f| *f = json!({"capability.json": f["capability.json"], "source.py": ""}), "`source.py` is no source"),
        ];
        for (change, said) in cases {
            let error = read(&folder(change)).unwrap_err();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
