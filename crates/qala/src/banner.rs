//! What a person who starts the server is told, on standard output.

use std::net::SocketAddr;

use application::demo::DemoCall;

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
    let docs = format!("API reference: {public_url}/docs");
    match (dev_login, demo) {
        (true, Some(demo)) => println!("{docs}  Sign in: {console_origin}/sign-in as {}", demo.email),
        (true, None) => println!("{docs}  Sign in: {console_origin}/sign-in"),
        (false, _) => println!("{docs}"),
    }
    if let Some(demo) = demo {
        // One line, to be pasted.
        println!(
            "Start a run: curl -H 'Content-Type: application/json' -H '{}' -d '{}' {}  # signed: valid once, for 5 minutes",
            demo.signature, demo.body, demo.url
        );
    }
}
