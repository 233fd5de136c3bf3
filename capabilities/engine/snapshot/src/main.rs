//! `snapshot RAW OUT`: runs the module's `wizer-initialize` and writes the module as it is after
//! that.

use wasmtime::error::Context;
use wasmtime::{Config, Engine, Linker, Result, Store};

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().collect();
    let [_, raw, out] = &arguments[..] else { wasmtime::bail!("usage: snapshot RAW OUT") };
    let raw = std::fs::read(raw).context("reading the module")?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    std::fs::write(out, runtime.block_on(snapshot(&raw))?).context("writing the snapshot")
}

async fn snapshot(raw: &[u8]) -> Result<Vec<u8>> {
    let engine = Engine::new(&Config::new())?;
    let mut linker = Linker::<()>::new(&engine);
    // Start-up reads the clock. Each call sets what depends on it anew, so any fixed moment does.
    linker.func_wrap("level3:capability/clock@0.1.0", "now", || 0_u64)?;
    let mut store = Store::new(&engine, ());
    wasmtime_wizer::Wizer::new()
        .run(&mut store, raw, async |store, module| {
            linker.define_unknown_imports_as_traps(module)?;
            linker.instantiate_async(store, module).await
        })
        .await
}
