//! Background work beside the API: queued runs, schedules, e-mail and periodic tasks. Depends on no adapter.
//!
//! * [`executor`]: runs one version of an app with its host: rows, gate and log
//! * [`dispatcher`]: claims runs from the queue, renews their leases and records their outcomes
//! * [`scheduler`]: starts runs of automations whose schedule is due
//! * [`domain_checks`]: rechecks the DNS records that verify join domains
//! * [`run_at_interval()`]: a loop for periodic work
//! * [`purger`]: deletes for good what was deleted a week ago
//! * [`code_upkeep`]: deletes files of versions that nothing needs
//! * [`mail_worker`]: sends the e-mail in the outbox
//! * [`notification_worker`]: tells people of alerts
//! * [`run_releaser`]: releases runs that the quota of a month held
//! * [`row_changes`]: reports tables whose rows were written
//! * [`executor_store`]: the reads and the log sink that the executor needs
//! * [`app_metrics`]: collects metrics of apps and writes them
//! * [`app_secrets`]: opens secrets of apps
//! * [`connection_credentials`]: opens the credentials of connections, and renews access tokens
//! * [`connection_store`]: what requests through connections need of the store
//! * [`call_counter`]: counts requests by gate
//! * `connection_limits`: bounds requests through one connection
//!
//! Every loop takes a [`CancellationToken`] and returns soon after it is cancelled.

pub mod app_metrics;
pub mod app_secrets;
mod backoff;
pub mod call_counter;
pub mod code_upkeep;
pub mod connection_credentials;
mod connection_limits;
pub mod connection_store;
pub mod dispatcher;
pub mod domain_checks;
pub mod executor;
pub mod executor_store;
mod interval;
pub mod mail_worker;
pub mod notification_worker;
pub mod purger;
pub mod row_changes;
pub mod run_releaser;
pub mod scheduler;

pub use app_metrics::{AppMetricsBuffer, AppMetricsWriter};
pub use app_secrets::AppSecrets;
pub use call_counter::{CallCountWriter, CallCounter};
pub use code_upkeep::CodeUpkeepWorker;
pub use connection_credentials::{ConnectionCredentials, ConnectionCredentialsDeps};
pub use connection_store::ConnectionStore;
pub use dispatcher::{Dispatcher, DispatcherOptions, Runner};
pub use domain_checks::DomainChecks;
pub use executor::{Executor, ExecutorDeps, ExecutorSettings};
pub use executor_store::ExecutorStore;
pub use interval::run_at_interval;
pub use mail_worker::MailWorker;
pub use notification_worker::{NotificationWorker, NotificationWorkerDeps};
pub use purger::Purger;
pub use row_changes::{RowChangeReporter, RowChanges};
pub use run_releaser::RunReleaser;
pub use scheduler::Scheduler;
pub use tokio_util::sync::CancellationToken;
