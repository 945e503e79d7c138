//! What a person who starts the server is told, on standard output.

use std::net::SocketAddr;

use api::DemoCall;

/// Prints where to go. The first line is also for programs that wait for the address.
#[expect(clippy::print_stdout, reason = "a person reads where to go")]
pub(crate) fn print(
    bound: SocketAddr,
    public_url: &str,
    console_origin: &str,
    dev_login: bool,
    demo: Option<&DemoCall>,
) {
    println!("Qala is listening on http://{bound}");
    println!();
    println!("  API reference  {public_url}/docs");
    if dev_login {
        let email = demo.map_or("you@example.com", |demo| &demo.email);
        println!(
            "  Sign in        curl -c qala.cookies -H 'Origin: {console_origin}' -H 'Content-Type: application/json' \\"
        );
        println!("                      -d '{{\"email\":\"{email}\"}}' {public_url}/v1/auth/dev-login");
    }
    if let Some(demo) = demo {
        println!("  Start a run    curl -H 'Content-Type: application/json' -H '{}' \\", demo.signature);
        println!("                      -d '{}' {}", demo.body, demo.url);
        println!("                 (signed for you: good for five minutes, and once)");
    }
    println!();
}
