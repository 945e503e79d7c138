//! A fork server whose workers echo lines; for tests and measurements.
//!
//! - `serve`: forks workers. Each first writes its process id, its parent's and its fork server's.
//! - `fail`: ends at once.
//! - `parent`: starts a fork server and a worker, writes their ids and waits to be killed.

use std::{
    env,
    io::{self, BufRead as _, Write as _},
    process::{self, ExitCode},
};

use process_snapshot::{ForkServer, close_inherited_descriptors, serve};
use rustix::process::{Pid, getpid, getppid};
use tokio::io::AsyncReadExt as _;

fn main() -> ExitCode {
    let result = match env::args().nth(1).as_deref() {
        Some("serve") => serve_echo(),
        Some("parent") => fork_and_wait(),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Serves as a fork server, and in each worker echoes lines until stdin ends; `exit 7` ends it with that code.
fn serve_echo() -> io::Result<()> {
    close_inherited_descriptors();
    let server = getpid();
    serve().map_err(io::Error::other)?;
    let mut output = io::stdout();
    let parent = Pid::as_raw(getppid());
    writeln!(output, "{} {} {}", getpid().as_raw_nonzero(), parent, server.as_raw_nonzero())?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(code) = line.strip_prefix("exit ").and_then(|code| code.parse().ok()) {
            process::exit(code);
        }
        writeln!(output, "{line}")?;
    }
    Ok(())
}

/// Forks a worker, passes its first line on, and waits for its end, which does not come while this process lives.
fn fork_and_wait() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut server = ForkServer::new(env::current_exe()?, vec!["serve".into()]);
        let mut worker = server.fork()?;
        let mut line = [0; 100];
        let length = worker.stdout.read(&mut line).await?;
        io::stdout().write_all(&line[..length])?;
        worker.stdout.read(&mut line).await.map(drop)
    })
}
