//! A capability as a folder: `capability.json` and one source file. The same form as in
//! `capabilities/examples`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::{CapabilityVersion, GrantError, Grants, NAME_RULE, SourceLanguage, TestCase, valid_name};
use crate::wire::api::{CapabilityFolder, DescribedCapability, ExportedFolder};

const DESCRIPTION: &str = "capability.json";

/// A capability read from a folder. Only its form is checked.
#[derive(Debug, PartialEq)]
pub(super) struct ReadFolder {
    pub(super) name: String,
    pub(super) description: String,
    language: SourceLanguage,
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
    language: Option<SourceLanguage>,
    parameters: Map<String, Value>,
    grants: Option<Map<String, Value>>,
    #[serde(default)]
    tests: Vec<TestCase>,
}

impl ReadFolder {
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
pub(super) fn read(folder: &CapabilityFolder) -> Result<ReadFolder, String> {
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
    let language = SourceLanguage::ALL.iter().copied().find(|language| file_of(*language) == file);
    let language = language.ok_or_else(|| format!("`{file}` is no source; name it {}", sources()))?;
    if let Some(said) = described.language.filter(|said| *said != language) {
        return Err(format!("`{DESCRIPTION}` says the language is {said}, and `{file}` is {language}"));
    }
    let source = source.as_str().ok_or_else(|| format!("`{file}` must be text"))?.to_owned();
    let Description { name, description, parameters, grants, tests, .. } = described;
    Ok(ReadFolder { name, description, language, source, parameters, grants, tests })
}

/// Writes a folder that reads back as the same.
pub(super) fn write(capability: CapabilityVersion) -> ExportedFolder {
    let CapabilityVersion { name, description, language, source, parameters, grants, tests, .. } = capability;
    ExportedFolder {
        described: DescribedCapability { name, description, language, parameters, grants, tests },
        source: BTreeMap::from([(file_of(language).to_owned(), source)]),
    }
}

fn file_of(language: SourceLanguage) -> &'static str {
    match language {
        SourceLanguage::JavaScript => "source.js",
        SourceLanguage::Wat => "source.wat",
        SourceLanguage::Wasm => "source.wasm.base64",
    }
}

fn sources() -> String {
    let files: Vec<_> = SourceLanguage::ALL.iter().map(|language| format!("`{}`", file_of(*language))).collect();
    files.join(" or ")
}

#[cfg(test)]
mod tests;
