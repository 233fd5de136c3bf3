//! Ports that no other test gets.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// A port at which nobody listens. The socket holds it and never listens itself, so a server of the
/// same test may take it with this number, and nobody gets it by chance.
pub fn reserved_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}
