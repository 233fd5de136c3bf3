//! Tests of `sandbox::engine`.

use super::*;
use sha2::{Digest, Sha256};

#[test]
fn every_way_to_reserve_memory_runs_the_engine() {
    let limits = SandboxLimits { concurrent: 2, ..SandboxLimits::default() };
    for way in ways(&limits) {
        let engine = Engine::new(&config(&limits, way)).unwrap();
        let wat = r#"(module (memory (export "m") 1) (func (export "f") (drop (memory.grow (i32.const 500)))))"#;
        let module = wasmtime::Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
        let mut store = wasmtime::Store::new(&engine, ());
        store.set_epoch_deadline(1);
        let instance = wasmtime::Instance::new(&mut store, &module, &[]).unwrap();
        instance.get_typed_func::<(), ()>(&mut store, "f").unwrap().call(&mut store, ()).unwrap();
        assert_eq!(instance.get_memory(&mut store, "m").unwrap().size(&store), 501, "{way:?}");
    }
}

#[test]
fn the_engine_is_the_one_whose_sha256_is_committed() {
    let committed = include_str!("../../../capabilities/engine/engine.wasm.sha256");
    assert_eq!(committed.split_whitespace().next(), Some(hex::encode(Sha256::digest(JAVASCRIPT)).as_str()));
}
