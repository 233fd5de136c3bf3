//! Tests of `http::chat`.

use super::*;

/// The bytes of the future that a function makes.
fn bytes_of<A, B, F: Future>(_: impl Fn(A, B) -> F) -> usize {
    size_of::<F>()
}

#[test]
fn the_task_of_a_socket_is_small() {
    // Each open socket has one, however idle. A wait for the database that has no box of its own
    // adds five KiB and more.
    let bytes = bytes_of(serve);
    assert!(bytes <= 3 << 10, "{bytes} bytes");
}
