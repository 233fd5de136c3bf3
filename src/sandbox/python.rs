//! Python: a component of CPython that a person installed (`capabilities/python`). It has an engine
//! of its own without the pool, and may import `log` and `http` alone. Its imports are looked at
//! when it is installed and whenever it is loaded.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{ResourceLimiter, Result as Wasm, Store, StoreContextMut, Trap};

use super::component::sha256;
use super::host::{Logs, MemoryLimit, OneByOne};
use super::run::{deadline_passed, end_in_time, memory_exceeded, result, stopped};
use super::ticker::Ticker;
use super::{CallError, Nothing, SandboxLimits, ScriptLimits, cache, engine, explain};

use crate::domain::{Grants, HttpGrant};
use crate::whole_file;

/// The component, in its folder.
const COMPONENT: &str = "python.wasm";
/// Its sha256, written last: only what has one is installed.
const RECORDED: &str = "python.wasm.sha256";
/// The import for lines of the log.
const LOG: &str = "log";
/// The import for requests, which components of older recipes do not have.
const HTTP: &str = "http";
/// The words about a script that ends its instance.
const ENDED: &str = "the script was ended: it reached for something that a script does not have, such as the file system, a clock or \
                     randomness of the machine; it has input, files, log(…) and /tmp";

/// Why Python is not there; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// Nobody has installed it.
    #[error("Python is not installed; install it with `level3 python install`")]
    NotInstalled,
    /// Its bytes are not those that were recorded.
    #[error("the Python component is damaged: its sha256 is not the recorded one; install it again with `level3 python install`")]
    Damaged,
    /// It would reach something outside.
    #[error(
        "the Python component imports {}, and may import {LOG} and {HTTP} alone; install the one of this version with \
         `level3 python install`",
        .0.join(", ")
    )]
    Foreign(Vec<String>),
    /// It is of an older recipe, and a script asks for hosts.
    #[error(
        "the Python that is installed is of an older recipe, whose scripts reach no host; install the one of this version with \
         `level3 python install`"
    )]
    SendsNothing,
    /// It is none.
    #[error("this is not a Python component of level3: {0}; let `level3 python install` build one")]
    Unfit(String),
    /// A file cannot be read or written.
    #[error("{path} cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// An installed component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPython {
    /// sha256 of the component.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl InstalledPython {
    /// The one in a folder.
    ///
    /// # Errors
    /// [`PythonError::NotInstalled`], or if the folder cannot be read.
    pub fn in_folder(folder: &Path) -> Result<Self, PythonError> {
        let path = folder.join(RECORDED);
        let sha256 = match fs::read_to_string(&path) {
            Ok(sum) => sum,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Err(PythonError::NotInstalled),
            Err(source) => return Err(PythonError::File { path, source }),
        };
        if sha256.len() != 64 || !sha256.is_ascii() {
            return Err(PythonError::Damaged);
        }
        let path = folder.join(COMPONENT);
        let bytes = fs::metadata(&path).map_err(|source| PythonError::File { path, source })?.len();
        Ok(Self { sha256, bytes })
    }

    /// Puts a component into a folder: compiles it, looks at its imports, lets it run a script, and
    /// records its sha256. It takes many seconds. A server that runs there takes the new one with
    /// its next script.
    ///
    /// # Errors
    /// If it is not one that may be run; then what was installed before stays.
    pub async fn put(folder: &Path, component: Vec<u8>) -> Result<Self, PythonError> {
        let (sum, bytes, folder) = (sha256(&component), component.len() as u64, folder.to_owned());
        let installed = Self { sha256: sum.clone(), bytes };
        let (to, wanted) = (folder.clone(), sum.clone());
        let (interpreter, component) = blocking(move || {
            let engine = engine::of_python().map_err(unfit)?;
            // Looked at before it is kept.
            let compiled = Component::new(&engine, &component).map_err(unfit)?;
            let linked = linked(&engine, &compiled)?;
            cache::load_or_make(&engine, &wanted, &to, || Ok::<_, PythonError>(compiled))?;
            Ok((Interpreter::of(engine, linked, wanted)?, component))
        })
        .await?;
        let requests = OneByOne::new(Grants::none(), Arc::new(Nothing), &SandboxLimits::default(), String::new());
        let given = json!({ "input": null, "files": {} });
        let tried = interpreter.run("return 6 * 7", &given, ScriptLimits::default(), requests).await;
        if tried.0.as_deref() != Ok("42") {
            return Err(PythonError::Unfit(format!("it does not run a script: {}", tried.0.unwrap_or_else(|why| why))));
        }
        // Not before: one that does not run would leave the one before it with another's sha256.
        blocking(move || {
            keep(&folder, COMPONENT, &component)?;
            keep(&folder, RECORDED, sum.as_bytes())
        })
        .await?;
        Ok(installed)
    }
}

fn keep(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), PythonError> {
    let path = folder.join(name);
    whole_file::write(&path, bytes).map_err(|source| PythonError::File { path, source })
}

fn unfit(error: wasmtime::Error) -> PythonError {
    PythonError::Unfit(explain::clip(&format!("{error:#}")))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, PythonError> + Send + 'static) -> Result<T, PythonError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| PythonError::Unfit(error.to_string()))?
}

/// The Python of a sandbox: none, or that of a folder, loaded when it is asked for.
#[derive(Default)]
pub(super) struct Python {
    pub(super) folder: Option<PathBuf>,
    loaded: Mutex<Option<Arc<Interpreter>>>,
}

impl Python {
    /// The interpreter that is installed now, if it can run a script with these hosts.
    pub(super) async fn ready_for(&self, hosts: &BTreeSet<HttpGrant>) -> Result<Arc<Interpreter>, PythonError> {
        let interpreter = self.ready().await?;
        if hosts.is_empty() || interpreter.sends { Ok(interpreter) } else { Err(PythonError::SendsNothing) }
    }

    async fn ready(&self) -> Result<Arc<Interpreter>, PythonError> {
        let folder = self.folder.clone().ok_or(PythonError::NotInstalled)?;
        let mut loaded = self.loaded.lock().await;
        let installed = InstalledPython::in_folder(&folder)?;
        if let Some(there) = &*loaded
            && there.sha256 == installed.sha256
        {
            return Ok(Arc::clone(there));
        }
        let interpreter = Arc::new(blocking(move || Interpreter::load(&folder, installed.sha256)).await?);
        *loaded = Some(Arc::clone(&interpreter));
        Ok(interpreter)
    }
}

/// An instance's data.
struct ScriptState {
    logs: Logs,
    memory: ScriptMemory,
    requests: OneByOne,
}

/// CPython is many modules around one memory, of which each instance is made anew.
struct ScriptMemory(MemoryLimit);

impl ResourceLimiter for ScriptMemory {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Wasm<bool> {
        self.0.memory_growing(current, desired, maximum)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Wasm<bool> {
        Ok(desired <= 64 << 10)
    }

    fn instances(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        8
    }
}

/// CPython, ready to be instantiated.
pub(super) struct Interpreter {
    sha256: String,
    component: InstancePre<ScriptState>,
    /// True if its scripts can send requests.
    sends: bool,
    ticker: Ticker,
}

impl Interpreter {
    fn load(folder: &Path, recorded: String) -> Result<Self, PythonError> {
        let engine = engine::of_python().map_err(unfit)?;
        let component = cache::load_or_make(&engine, &recorded, folder, || {
            let path = folder.join(COMPONENT);
            let bytes = fs::read(&path).map_err(|source| PythonError::File { path, source })?;
            if sha256(&bytes) != recorded {
                return Err(PythonError::Damaged);
            }
            tracing::info!("compiling Python for this machine, which takes a while");
            Component::new(&engine, &bytes).map_err(unfit)
        })?;
        let linked = linked(&engine, &component)?;
        Self::of(engine, linked, recorded)
    }

    fn of(engine: wasmtime::Engine, component: InstancePre<ScriptState>, sha256: String) -> Result<Self, PythonError> {
        let ticker = Ticker::start(&engine).map_err(|error| PythonError::Unfit(error.to_string()))?;
        let sends = component.component().component_type().get_import(&engine, HTTP).is_some();
        Ok(Self { sha256, component, sends, ticker })
    }

    /// Runs a script in a fresh instance: its result, or why it has none, and its log.
    pub(super) async fn run(
        &self,
        source: &str,
        given: &Value,
        limits: ScriptLimits,
        requests: OneByOne,
    ) -> (Result<String, String>, Vec<String>) {
        let ScriptLimits { memory_bytes, deadline, output_bytes, .. } = limits;
        let running = self.ticker.running();
        let memory = ScriptMemory(MemoryLimit { bytes: memory_bytes, refused: false });
        let mut store = Store::new(self.component.engine(), ScriptState { logs: Logs::new(output_bytes), memory, requests });
        store.limiter(|state| &mut state.memory);
        end_in_time(&mut store, deadline);
        let given = given.to_string();
        let ended = tokio::time::timeout(deadline, async {
            let instance = self.component.instantiate_async(&mut store).await?;
            let run = instance.get_typed_func::<(&str, &str), (Result<String, String>,)>(&mut store, "run")?;
            Ok(run.call_async(&mut store, (source, &given)).await?.0)
        });
        let ended = ended.await.unwrap_or_else(|_| Err(deadline_passed()));
        let state = store.into_data();
        drop(running);
        let refused = state.memory.0.refused;
        let result = match ended {
            Ok(Ok(json)) => result(json, output_bytes).map_err(|error| error.to_string()),
            Ok(Err(why)) if refused && why.starts_with("MemoryError") => Err(memory_exceeded(memory_bytes).to_string()),
            Ok(Err(why)) => Err(explain::clip(&why)),
            Err(error) if !refused && error.downcast_ref() == Some(&Trap::UnreachableCodeReached) => Err(ENDED.to_owned()),
            Err(error) => Err(match stopped(&error, refused.then_some(memory_bytes), deadline) {
                CallError::Unusable(fault) => format!("the script cannot be run: {fault}"),
                other => other.to_string(),
            }),
        };
        (result, state.logs.into_entries())
    }
}

/// A call of the host, with what the guest hears of it.
type Answering<'a> = Box<dyn Future<Output = Wasm<(Result<String, String>,)>> + Send + 'a>;

/// Sends a request of a script, which waits for the answer.
fn http(mut store: StoreContextMut<'_, ScriptState>, (request,): (String,)) -> Answering<'_> {
    Box::new(async move { Ok((store.data_mut().requests.http(&request).await?,)) })
}

/// The component with what it may import, if that is all that it imports.
fn linked(engine: &wasmtime::Engine, component: &Component) -> Result<InstancePre<ScriptState>, PythonError> {
    let its = component.component_type();
    let imports = its.imports(engine).map(|(name, _)| name.to_owned());
    let foreign: Vec<_> = imports.filter(|name| ![LOG, HTTP].contains(&name.as_str())).collect();
    if !foreign.is_empty() {
        return Err(PythonError::Foreign(foreign));
    }
    let mut linker = Linker::new(engine);
    let log = |mut store: StoreContextMut<'_, ScriptState>, (line,): (String,)| {
        store.data_mut().logs.add("", &line);
        Ok(())
    };
    linker.root().func_wrap(LOG, log).map_err(unfit)?;
    linker.root().func_wrap_async(HTTP, http).map_err(unfit)?;
    linker.instantiate_pre(component).map_err(unfit)
}
