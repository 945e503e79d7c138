//! The lines that a start prints on standard output.

use std::net::SocketAddr;

use application::demo::DemoCall;

/// Prints the addresses to open. Programs that wait for the server parse the first line.
#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) fn print(
    bound: SocketAddr,
    public_url: &str,
    console_origin: &str,
    dev_login: bool,
    demo: Option<&DemoCall>,
) {
    println!("Qala is listening on http://{bound}");
    let docs = format!("API reference: {public_url}/docs");
    // The console asks to sign in first.
    let console = match console::MISSING {
        None => format!("Console: {console_origin}/"),
        Some(_) => format!("Sign in: {console_origin}/sign-in"),
    };
    match (dev_login, demo) {
        (true, Some(demo)) => println!("{docs}  {console} as {}", demo.email),
        (true, None) => println!("{docs}  {console}"),
        (false, _) if console::MISSING.is_none() => println!("{docs}  {console}"),
        (false, _) => println!("{docs}"),
    }
    if cfg!(debug_assertions) {
        println!("This is a development build, several times slower than a release: cargo run --release");
    }
    if let Some(demo) = demo {
        // One line, so that it can be pasted into a shell.
        println!(
            "Start a run: curl -H 'Content-Type: application/json' -H '{}' -d '{}' {}  # signed: valid once, for 5 minutes",
            demo.signature, demo.body, demo.url
        );
    }
}
