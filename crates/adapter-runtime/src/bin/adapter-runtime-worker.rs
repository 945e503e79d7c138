//! A worker process without the rest of Qala, for tests and measurements.

use std::process::ExitCode;

fn main() -> ExitCode {
    adapter_runtime::worker_main()
}
