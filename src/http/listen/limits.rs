//! How long connections and answers may take, and how many connections there may be.

use std::time::Duration;

/// Limits of the doors, all in real time: they guard against peers that hang or hold on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How long the head of a request may take, and how long a connection may be idle before the
    /// next.
    pub head: Duration,
    /// How long a body may take; each 16 KiB that came give it another second.
    pub body: Duration,
    /// How long a peer may go without reading any of the bytes that wait for it.
    pub write: Duration,
    /// How often the server pings the client of a socket of `/chat`.
    pub ping: Duration,
    /// How many connections may be open.
    pub connections: usize,
    /// How many more may be open, for clients that ask for the health.
    pub reserve: usize,
    /// How long the head of a request may take on those.
    pub reserve_head: Duration,
    /// How long a greeting waits for a model server's description of its model.
    pub description: Duration,
    /// How long the head of a streamed answer waits for its first event, so that a failure before
    /// any word has its status.
    pub first_event: Duration,
    /// How long the database may take to answer `/metrics`: Prometheus must learn that it hangs,
    /// and not hang as well.
    pub measures: Duration,
}

impl ConnectionLimits {
    /// The limits of a process that may open so many files: connections get half of them.
    pub fn within(files: u64) -> Self {
        let half = usize::try_from(files / 2).unwrap_or(usize::MAX).clamp(16, 8192);
        let reserve = half / 8;
        Self {
            head: Duration::from_secs(15),
            body: Duration::from_secs(20),
            write: Duration::from_secs(30),
            ping: Duration::from_secs(30),
            connections: half - reserve,
            reserve,
            reserve_head: Duration::from_secs(1),
            description: Duration::from_millis(300),
            first_event: Duration::from_secs(1),
            measures: Duration::from_secs(3),
        }
    }

    /// The limits of this process, after it raised its limit of open files as far as it may.
    pub fn of_this_process() -> Self {
        Self::within(raise_files())
    }
}

/// Raises the soft limit of open files to the hard one. The soft one is low for the sake of old
/// programs, and this is none of them.
fn raise_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes to the struct given, which lives until it returns.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return 1024;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: it reads the struct given.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
        limit = raised;
    }
    limit.rlim_cur
}

#[cfg(test)]
mod tests;
