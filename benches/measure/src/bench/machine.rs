//! The machine and the commit that a document's figures are of.

use std::process::Command;

/// Cores, memory, processor and system; no names and no paths.
pub fn words() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(['\t', ' ', ':', '=']).trim_matches('"').to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = value(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let memory = memory.trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / f64::from(1 << 20);
    let processor = value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "a processor without a name".to_owned());
    let system = value(&read("/etc/os-release"), "PRETTY_NAME").unwrap_or_else(|| "Linux".to_owned());
    format!("{cores} cores of {processor}, {memory:.0} GiB, {system}")
}

/// How many programs wanted the processor within the last minute, on average: a machine is quiet
/// below 0.5 or so.
pub fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or("?").to_owned()
}

/// The commit, and whether the files are others than it has.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let told = Command::new("git").args(arguments).output().ok().filter(|told| told.status.success());
        told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".to_owned() };
    match git(&["status", "--porcelain", "--untracked-files=no", "--", ":!docs/performance.md"]) {
        Some(changed) if changed.is_empty() => format!("`{commit}`"),
        _ => format!("`{commit}` with changes"),
    }
}
