//! Memory that was needed once and is not needed again.

/// Gives freed memory back to the system. The allocator keeps what large things leave, some 40 MiB after compiling the engine and as much
/// after a message with images; the program is idle most of the time and should not hold it.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim has no preconditions.
    unsafe {
        libc::malloc_trim(0);
    }
}
