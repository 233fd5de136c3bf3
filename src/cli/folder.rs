//! Capabilities as files: a folder with `capability.json` and a source, or a `.wasm` file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::CliError;
use crate::wire::api::CapabilityFolder;

const DESCRIPTION: &str = "capability.json";
const WASM: &str = "source.wasm";
const WASM_BASE64: &str = "source.wasm.base64";

/// The options that describe a `.wasm` file at the command line.
#[derive(Debug, Default, clap::Args)]
pub struct WasmOptions {
    /// For a .wasm file: its name
    #[arg(long)]
    name: Option<String>,
    /// For a .wasm file: what it does
    #[arg(long)]
    description: Option<String>,
    /// For a .wasm file: JSON Schema of its arguments
    #[arg(long, value_name = "JSON")]
    parameters: Option<String>,
    /// For a .wasm file: the grants it asks for
    #[arg(long, value_name = "JSON")]
    grants: Option<String>,
}

/// Reads a capability from files.
pub(super) fn read(path: &Path, said: &WasmOptions) -> Result<CapabilityFolder, CliError> {
    if path.is_dir() {
        return folder(path);
    }
    if path.extension().is_none_or(|extension| extension != "wasm") {
        return Err(CliError::Usage(format!("{} is neither a folder with a {DESCRIPTION} nor a .wasm file", path.display())));
    }
    let component = fs::read(path).map_err(|source| unusable(path, source))?;
    let mut described = match fs::read(path.with_file_name(DESCRIPTION)) {
        Ok(text) => json_of(&path.with_file_name(DESCRIPTION), &text)?,
        Err(_) => json!({}),
    };
    for (field, text) in [("name", &said.name), ("description", &said.description)] {
        if let Some(text) = text {
            described[field] = json!(text);
        }
    }
    for (field, text) in [("parameters", &said.parameters), ("grants", &said.grants)] {
        if let Some(text) = text {
            let value = serde_json::from_str(text).map_err(|error| CliError::Usage(format!("--{field} is not JSON: {error}")))?;
            described[field] = value;
        }
    }
    if let Some(missing) = ["name", "description", "parameters"].into_iter().find(|field| described.get(field).is_none()) {
        let told = format!("a .wasm file says nothing of itself: give --{missing}, or put a {DESCRIPTION} beside it");
        return Err(CliError::Usage(told));
    }
    Ok([(DESCRIPTION.to_owned(), described), (WASM_BASE64.to_owned(), json!(BASE64.encode(component)))].into_iter().collect())
}

fn folder(path: &Path) -> Result<CapabilityFolder, CliError> {
    let mut folder = CapabilityFolder::new();
    for entry in fs::read_dir(path).map_err(|source| unusable(path, source))? {
        let file = entry.map_err(|source| unusable(path, source))?.path();
        let Some(name) = file.file_name().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
        if name != DESCRIPTION && !name.starts_with("source.") {
            continue; // a README, a licence
        }
        let bytes = fs::read(&file).map_err(|source| unusable(&file, source))?;
        match name.as_str() {
            DESCRIPTION => folder.insert(name, json_of(&file, &bytes)?),
            WASM => folder.insert(WASM_BASE64.to_owned(), json!(BASE64.encode(bytes))),
            _ => folder.insert(name, json!(String::from_utf8_lossy(&bytes))),
        };
    }
    if !folder.contains_key(DESCRIPTION) {
        return Err(CliError::Usage(format!("there is no {DESCRIPTION} in {}", path.display())));
    }
    Ok(folder)
}

/// Writes a capability as files into a folder, which it makes if there is none. Nothing is
/// overwritten.
pub(super) fn write(folder: &CapabilityFolder, into: &Path) -> Result<Vec<PathBuf>, CliError> {
    fs::create_dir_all(into).map_err(|source| unusable(into, source))?;
    let mut written = Vec::new();
    for (name, content) in folder {
        let text = content.as_str().map(str::to_owned).unwrap_or_else(|| format!("{content:#}\n"));
        let (name, bytes) = match name.as_str() {
            DESCRIPTION | "source.js" | "source.wat" => (name.as_str(), text.into_bytes()),
            WASM_BASE64 => {
                let decoded = BASE64.decode(text.trim());
                (WASM, decoded.map_err(|error| CliError::Failed(format!("the component is not base64: {error}")))?)
            }
            other => return Err(CliError::Failed(format!("the server sent a file `{other}`, which no capability has"))),
        };
        let path = into.join(name);
        let mut file = fs::File::create_new(&path).map_err(|source| unusable(&path, source))?;
        file.write_all(&bytes).map_err(|source| unusable(&path, source))?;
        written.push(path);
    }
    Ok(written)
}

fn json_of(file: &Path, text: &[u8]) -> Result<Value, CliError> {
    serde_json::from_slice(text).map_err(|error| CliError::Usage(format!("{} is not JSON: {error}", file.display())))
}

fn unusable(path: &Path, source: std::io::Error) -> CliError {
    CliError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
