//! Drafts in JavaScript: does the source parse, does it load, and which function is the
//! capability's.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::domain::{Draft, SourceLanguage};

use super::component::{BuiltComponent, Bytes, sha256};
use super::run::thrown;
use super::template::Kind;
use super::{CallError, CheckError, ENGINE_NAME, Inner, Nothing, explain};
use crate::domain::RefusalCode;

/// Exported name → `function`, `value` or `undefined`.
type Exports = BTreeMap<String, String>;

/// A source that failed before it had exports.
struct NotLoaded {
    syntax: bool,
    error: CallError,
}

/// How many lost semicolons are put in: each costs a look at the source.
const MOST_SEMICOLONS: usize = 16;

impl NotLoaded {
    fn lost_semicolon(&self, source: &str) -> Option<usize> {
        let CallError::Threw { message, place: Some(place), .. } = &self.error else { return None };
        explain::lost_semicolon(source, message, *place).filter(|_| self.syntax)
    }
}

impl Inner {
    /// Builds the component of a draft in JavaScript.
    pub(super) async fn build_javascript(&self, draft: &Draft) -> Result<BuiltComponent, CheckError> {
        // A source that names its default export most likely runs as it is.
        let ahead = draft.source.contains("export default").then_some(draft.source.as_str());
        let (exports, ()) = tokio::join!(self.inspect(draft, &draft.source), self.compile_ahead(draft, ahead));
        let (source, exports) = match exports {
            Ok(exports) => (draft.source.clone(), exports),
            Err(failed) => self.with_semicolons(draft, failed).await.map_err(|failed| not_loaded(draft, failed))?,
        };
        let source = self.with_default_export(draft, source, &exports).await?;
        let template = self.templates.get(&draft.grants).map_err(broken)?;
        let bytes = template.component(Kind::Run, &source);
        Ok(BuiltComponent { source, bytes, engine: ENGINE_NAME.to_owned() })
    }

    /// The source with the semicolons that were lost when its lines were joined, if nothing else is
    /// wrong with it: small models write all code on one line. Lines stay as they are.
    ///
    /// # Errors
    /// The first failure, at its place in the author's text.
    async fn with_semicolons(&self, draft: &Draft, first: NotLoaded) -> Result<(String, Exports), NotLoaded> {
        let (mut source, mut later) = (draft.source.clone(), None);
        for _ in 0..MOST_SEMICOLONS {
            let Some(at) = later.as_ref().unwrap_or(&first).lost_semicolon(&source) else { break };
            source.insert(at, ';');
            match self.inspect(draft, &source).await {
                Ok(exports) => return Ok((source, exports)),
                Err(failed) => later = Some(failed),
            }
        }
        Err(first)
    }

    /// The source as the engine calls it: with the function as its default export. The author's
    /// text stays as it is, so that lines in later errors are the author's.
    async fn with_default_export(&self, draft: &Draft, source: String, exports: &Exports) -> Result<String, CheckError> {
        let missing = |message: String| CheckError::new(RefusalCode::MissingFunction, message);
        let name = &draft.name;
        match exports.get("default").map(String::as_str) {
            Some("function") => return Ok(source),
            Some(_) => {
                return Err(missing(format!(
                    "`export default` must export the function: `export default async function {name}(params) {{ … }}`"
                )));
            }
            None => {}
        }
        for candidate in [name.as_str(), "run"] {
            // `inspect` does not see a function without an export, but the end of the module does.
            if candidate == name || exports.get(candidate).is_some_and(|kind| kind == "function") {
                let source = format!("{source}\nexport default {candidate};\n");
                let (exports, ()) = tokio::join!(self.inspect(draft, &source), self.compile_ahead(draft, Some(&source)));
                if let Ok(exports) = exports
                    && exports.get("default").is_some_and(|kind| kind == "function")
                {
                    return Ok(source);
                }
            }
        }
        if exports.get(name).is_some_and(|kind| kind == "function") {
            return Err(missing(format!(
                "the function that is exported as `{name}` has another name in the code: name it `{name}` there, too"
            )));
        }
        let exported: Vec<_> = exports.keys().map(String::as_str).collect();
        let found = if exported.is_empty() { String::new() } else { format!(" It exports {}.", exported.join(", ")) };
        Err(missing(format!("the code must define the function `{name}`: `async function {name}(params) {{ … }}`.{found}")))
    }

    /// Compiles the component of a source that is not checked yet, beside its check. If the source
    /// passes, its component is there already; nothing of it runs before.
    async fn compile_ahead(&self, draft: &Draft, source: Option<&str>) {
        let (Some(source), Ok(template)) = (source, self.templates.get(&draft.grants)) else { return };
        let component = template.component(Kind::Run, source);
        let sha256 = sha256(&component);
        let bytes = Bytes { component: &component, sha256: &sha256, grants: &draft.grants, language: SourceLanguage::JavaScript };
        if let Err(error) = self.load(bytes).await {
            tracing::debug!(%error, "a component that was compiled ahead cannot be loaded");
        }
    }

    /// Loads a source in the sandbox, with the grants that the draft asks for, and returns its
    /// exports.
    async fn inspect(&self, draft: &Draft, source: &str) -> Result<Exports, NotLoaded> {
        #[derive(Deserialize)]
        struct Phase {
            phase: Option<String>,
        }
        let failed = |error| NotLoaded { syntax: false, error };
        let component = self
            .templates
            .get(&draft.grants)
            .map(|template| template.component(Kind::Inspect, ""))
            .map_err(|error| failed(CallError::Unusable(error)))?;
        let sha256 = sha256(&component);
        let bytes = Bytes { component: &component, sha256: &sha256, grants: &draft.grants, language: SourceLanguage::JavaScript };
        let loaded = self.load(bytes).await.map_err(|error| failed(CallError::Unusable(error.to_string())))?;
        let terms = self.terms_of_trial(Arc::new(Nothing));
        let answered = self.answer(&loaded, &json!({ "source": source }).to_string(), &terms).await;
        match answered.answer.map_err(failed)? {
            Ok(exports) => serde_json::from_str(&exports).map_err(|error| failed(CallError::Unusable(error.to_string()))),
            Err(answer) => {
                let phase = serde_json::from_str::<Phase>(&answer).ok().and_then(|phase| phase.phase);
                Err(NotLoaded { syntax: phase.as_deref() == Some("syntax"), error: thrown(&answer, None) })
            }
        }
    }
}

fn not_loaded(draft: &Draft, NotLoaded { syntax, error }: NotLoaded) -> CheckError {
    let place = error.place();
    match error {
        CallError::Threw { name, message, .. } if syntax && name == "SyntaxError" => {
            let place = place.map(|place| explain::exact(&draft.source, &message, place));
            let mut hint = explain::syntax_hint(&draft.source).to_owned();
            let at_place = place.and_then(|place| explain::hint_at(&draft.source, &draft.name, &message, place));
            if let Some(at_place) = at_place.filter(|_| hint.is_empty()) {
                hint = at_place;
            }
            let near = place.and_then(|place| explain::near(&draft.source, place));
            CheckError { near, ..CheckError::new(RefusalCode::SyntaxError, format!("{message}.{hint}")) }.at(place)
        }
        // An `import` is noticed while compiling, but it is no fault of syntax.
        CallError::Threw { message, .. } if syntax => CheckError::new(RefusalCode::ImportError, message).at(place),
        other => {
            let message = match explain::fence_hint(&draft.source) {
                "" => format!("the code fails while loading: {other}"),
                hint => format!("the code fails while loading: {other}.{hint}"),
            };
            CheckError::new(RefusalCode::ImportError, message).at(place)
        }
    }
}

fn broken(problem: String) -> CheckError {
    CheckError::new(RefusalCode::ImportError, problem)
}
