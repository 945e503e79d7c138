//! The control plane's schema: one list of migrations for SQLite and PostgreSQL.
//!
//! A migration is a file of SQL in which placeholders stand for what the two databases call differently, see `dialect`.
//! Migrations only add to what running code uses, so that old and new nodes can share a database during an upgrade.

mod dialect;
mod m0001_control_plane;
mod m0002_mail;
mod m0003_oauth;
mod m0004_people;
mod m0005_sign_in;
mod m0006_changes;
mod m0009_roads;
mod m0010_project_requests;
mod m0011_explain;
mod m0012_events;
mod m0013_fewer_indexes;
mod m0014_alerts;
mod m0015_signatures;
mod m0025_log_volume;
mod m0026_automation_failures;
mod m0035_installation;
mod m0043_cancelled_runs;
mod m0044_deletions;
mod m0045_list_pages;
mod m0046_changes;
mod m0047_connections;
mod m0050_connection_renewals;
mod m0051_app_secrets;
mod m0052_app_metrics;
mod m0053_app_rollbacks;
mod m0054_held_runs;
mod m0055_run_results;
mod m0056_agent_tools;
mod m0057_approved_changes;
mod m0058_drafts;
mod m0059_imports;
mod m0060_notifications;
mod m0063_version_handlers;
mod m0064_change_effects;
mod m0066_app_health;
mod m0067_asked_by;
mod m0068_view_rights;
mod m0071_code_files;
mod m0072_workspace_creators;
mod m0073_lists;
mod m0074_runs_by_automation;
mod m0075_audit_of_apps;
mod m0076_replays;
mod schema;

use sea_orm_migration::{MigrationTrait, MigratorTrait};

pub use schema::{SchemaError, SchemaStatus};

/// Name of the migration from which on files of versions are stored once; programs that do not know it cannot read such versions.
pub const CODE_FILES: &str = "m0071_code_files";

/// Every migration, oldest first.
#[derive(Debug)]
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_control_plane::Migration),
            Box::new(m0002_mail::Migration),
            Box::new(m0003_oauth::Migration),
            Box::new(m0004_people::Migration),
            Box::new(m0005_sign_in::Migration),
            Box::new(m0006_changes::Migration),
            Box::new(m0009_roads::Migration),
            Box::new(m0010_project_requests::Migration),
            Box::new(m0011_explain::Migration),
            Box::new(m0012_events::Migration),
            Box::new(m0013_fewer_indexes::Migration),
            Box::new(m0014_alerts::Migration),
            Box::new(m0015_signatures::Migration),
            Box::new(m0025_log_volume::Migration),
            Box::new(m0026_automation_failures::Migration),
            Box::new(m0035_installation::Migration),
            Box::new(m0043_cancelled_runs::Migration),
            Box::new(m0044_deletions::Migration),
            Box::new(m0045_list_pages::Migration),
            Box::new(m0046_changes::Migration),
            Box::new(m0047_connections::Migration),
            Box::new(m0050_connection_renewals::Migration),
            Box::new(m0051_app_secrets::Migration),
            Box::new(m0052_app_metrics::Migration),
            Box::new(m0053_app_rollbacks::Migration),
            Box::new(m0054_held_runs::Migration),
            Box::new(m0055_run_results::Migration),
            Box::new(m0056_agent_tools::Migration),
            Box::new(m0057_approved_changes::Migration),
            Box::new(m0058_drafts::Migration),
            Box::new(m0059_imports::Migration),
            Box::new(m0060_notifications::Migration),
            Box::new(m0063_version_handlers::Migration),
            Box::new(m0064_change_effects::Migration),
            Box::new(m0066_app_health::Migration),
            Box::new(m0067_asked_by::Migration),
            Box::new(m0068_view_rights::Migration),
            Box::new(m0071_code_files::Migration),
            Box::new(m0072_workspace_creators::Migration),
            Box::new(m0073_lists::Migration),
            Box::new(m0074_runs_by_automation::Migration),
            Box::new(m0075_audit_of_apps::Migration),
            Box::new(m0076_replays::Migration),
        ]
    }
}

/// Returns the name of the newest migration.
#[must_use]
pub fn newest_migration() -> String {
    Migrator::migrations().last().map(|migration| migration.name().to_owned()).unwrap_or_default()
}
