//! The WebAssembly engine's settings, and the JavaScript engine's bytes.

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use super::{DEPTHS, SandboxError, SandboxLimits};

/// quickjs-ng and the prelude, started and snapshotted; made by `capabilities/engine/build.sh`.
pub(super) const JAVASCRIPT: &[u8] = include_bytes!("../../capabilities/engine/engine.wasm");

/// Stack of the guest. quickjs checks its own stack, 1 MiB inside the linear memory; its native use
/// is up to three times that, and this one must be the larger, so that deep recursion is a
/// `RangeError` and not a trap.
const GUEST_STACK: usize = 3 << 20;
/// The guest's stack and the stack of the host functions on top of it.
const FIBER_STACK: usize = GUEST_STACK + (1 << 20);

/// How much of an instance's memory stays mapped when it ends. A small call then takes a third of
/// the time, since it meets few page faults; more than this gained nothing. The price, with stacks:
/// about 1 MiB for each call that ever ran at the same time as others.
const KEEP_RESIDENT: usize = 512 << 10;

/// Core instances one component may have, beside its one memory. A JavaScript capability has 4.
pub(super) const MODULES: u32 = 8;
/// Tables one component may have. A JavaScript capability has 2.
pub(super) const TABLES: u32 = 4;
/// Size of one table. The engine's has about 1,000 entries.
pub(super) const TABLE_ELEMENTS: usize = 4096;

/// How address space is reserved: for how many bytes a memory, and for all instances at once or for
/// each when it is made.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    bytes: u64,
    pool: bool,
}

/// The ways to reserve, best first. With 4 GiB a memory needs no bounds checks.
fn ways(limits: &SandboxLimits) -> [Reservation; 3] {
    let smaller = (largest_memory(limits) as u64).next_multiple_of(64 << 10);
    [(4 << 30, true), (smaller, true), (smaller, false)].map(|(bytes, pool)| Reservation { bytes, pool })
}

/// The memory of the largest instance. Each store has its own limit below it.
fn largest_memory(limits: &SandboxLimits) -> usize {
    limits.memory_bytes.max(limits.script.memory_bytes)
}

/// An engine for these limits. If the machine refuses the address space of a pool, a smaller one is
/// tried, and at last none.
pub(super) fn make(limits: &SandboxLimits) -> Result<Engine, SandboxError> {
    let mut refused = None;
    for way in ways(limits) {
        match Engine::new(&config(limits, way)) {
            Ok(engine) => return Ok(engine),
            Err(error) => {
                tracing::warn!(?way, %error, "address space for capabilities refused; calls will be slower");
                refused = Some(error);
            }
        }
    }
    Err(SandboxError::Engine(refused.unwrap_or_else(|| wasmtime::Error::msg("no way to reserve memory was tried"))))
}

/// An engine for Python. Its instances are large and few, so each gets its memory when it is made.
pub(super) fn of_python() -> Result<Engine, wasmtime::Error> {
    Engine::new(&common())
}

/// The settings of every engine.
fn common() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        .max_wasm_stack(GUEST_STACK)
        .async_stack_size(FIBER_STACK)
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false);
    config
}

fn config(limits: &SandboxLimits, way: Reservation) -> Config {
    let mut config = common();
    config.memory_reservation(way.bytes);
    if way.pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    }
    config
}

fn pool(limits: &SandboxLimits) -> PoolingAllocationConfig {
    let calls = limits.concurrent * DEPTHS as u32;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls * MODULES)
        .max_core_instances_per_component(MODULES)
        .total_memories(calls)
        .max_memories_per_component(1)
        .max_memory_size(largest_memory(limits))
        .total_tables(calls * TABLES)
        .max_tables_per_component(TABLES)
        .table_elements(TABLE_ELEMENTS)
        .total_stacks(calls)
        .max_unused_warm_slots(0)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    pool
}

#[cfg(test)]
mod tests;
