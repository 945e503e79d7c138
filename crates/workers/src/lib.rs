//! What runs by itself beside the API: accepted work, schedules, tidying. No adapter is known here.
//!
//! * [`executor`]: runs one version of an app with its host: rows, the gate, the log
//! * [`dispatcher`]: claims runs from the queue, keeps their leases and writes their ends
//! * [`scheduler`]: starts automations whose moment has come
//! * [`domain_checks`]: looks again at what proves join domains
//! * [`run_at_interval()`]: a loop for everything that only has to happen now and then
//! * [`mail_worker`]: sends the letters that wait
//! * [`executor_store`]: what these read
//!
//! Every loop takes a [`CancellationToken`] and ends soon after it is cancelled.

mod backoff;
pub mod dispatcher;
pub mod domain_checks;
pub mod executor;
pub mod executor_store;
mod interval;
pub mod mail_worker;
pub mod scheduler;

pub use dispatcher::{Dispatcher, DispatcherOptions, Runner};
pub use domain_checks::DomainChecks;
pub use executor::{Executor, ExecutorDeps, ExecutorSettings};
pub use executor_store::ExecutorStore;
pub use interval::run_at_interval;
pub use mail_worker::MailWorker;
pub use scheduler::Scheduler;
pub use tokio_util::sync::CancellationToken;
