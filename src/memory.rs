//! Memory that was needed once and is not needed again.

/// Lets the allocator keep no more separate heaps than threads can run at once. Its default is
/// eight for each core, and each keeps what one busy moment left in it. Call this before there are
/// threads.
pub fn keep_few_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        // SAFETY: mallopt has no preconditions.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, libc::c_int::try_from(cores.max(2)).unwrap_or(libc::c_int::MAX));
        }
    }
}

/// Gives freed memory back to the system. The allocator keeps what large things leave, some 40 MiB
/// after compiling the engine and as much after a message with images; the program is idle most of
/// the time and should not hold it.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim has no preconditions.
    unsafe {
        libc::malloc_trim(0);
    }
}
