//! `qala healthcheck`: asks a running server if it is ready, for containers without a shell.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, ensure};

/// Time limit of connecting, and of each read and write.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of the response that are read.
const MAX_RESPONSE: u64 = 16 << 10;

/// Succeeds if `GET /readyz` responds with 200.
#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) fn healthcheck(listen: SocketAddr) -> anyhow::Result<ExitCode> {
    let address = connect_address(listen);
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)
        .with_context(|| format!("cannot connect to {address}"))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.take(MAX_RESPONSE).read_to_string(&mut response).context("the server did not respond")?;
    let status = response.split(' ').nth(1).unwrap_or_default();
    ensure!(status == "200", "the server is not ready: {}", response.lines().last().unwrap_or_default());
    println!("ready");
    Ok(ExitCode::SUCCESS)
}

/// Returns the address to connect to; loopback for a server that listens on every address.
fn connect_address(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unspecified_address_is_reached_by_loopback() {
        for (listen, address) in
            [("0.0.0.0:7420", "127.0.0.1:7420"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(connect_address(listen.parse().unwrap()), address.parse().unwrap());
        }
    }
}
