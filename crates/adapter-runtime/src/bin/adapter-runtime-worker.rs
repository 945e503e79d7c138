//! A worker process without the rest of the product; for tests and measurements.

use std::process::ExitCode;

fn main() -> ExitCode {
    adapter_runtime::worker_main()
}
