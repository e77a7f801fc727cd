//! Listening sockets of the manager's servers, bound before anything else starts so that a port in use is an
//! error of the start.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// Binds `address`. Every interface means IPv4 too, also on machines without IPv6.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = match TcpListener::bind(address) {
        Err(error)
            if address.ip().is_unspecified()
                && address.is_ipv6()
                && error.kind() != io::ErrorKind::AddrInUse =>
        {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))?
        }
        other => other?,
    };
    listener.set_nonblocking(true)?;
    Ok(listener)
}
