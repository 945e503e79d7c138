//! The control plane's schema: one list of migrations for SQLite and PostgreSQL.
//!
//! A migration is a file of SQL in `sql`, in which placeholders stand for what the two databases call differently, see
//! `dialect`. Migrations only add to what running code uses, so that old and new nodes can share a database during an
//! upgrade. What a database has applied is never changed here.

mod apps_of_audit_entries;
mod dialect;
mod history;
mod migration;
mod schema;

pub use migration::Migration;
use migration::Step;
pub use schema::{SchemaError, SchemaStatus, migrate_until};

/// Name of the migration from which on files of versions are stored once; programs that do not know it cannot read such versions.
pub const CODE_FILES: &str = "m0071_code_files";

/// Declares the migration whose only file has its name.
macro_rules! migration {
    ($name:literal) => {
        Migration::new($name, &[Step::Sql(include_str!(concat!("../sql/", $name, ".sql")))])
    };
}

/// Every migration, oldest first.
pub static MIGRATIONS: &[Migration] = &[
    migration!("m0001_control_plane"),
    migration!("m0002_mail"),
    migration!("m0003_oauth"),
    migration!("m0004_people"),
    migration!("m0005_sign_in"),
    migration!("m0006_changes"),
    migration!("m0009_roads"),
    migration!("m0010_project_requests"),
    migration!("m0011_explain"),
    migration!("m0012_events"),
    migration!("m0013_fewer_indexes"),
    migration!("m0014_alerts"),
    Migration::new(
        "m0015_signatures",
        &[
            Step::Sql(include_str!("../sql/m0015_signatures.sql")),
            Step::Sqlite(include_str!("../sql/m0015_signatures_sqlite.sql")),
        ],
    ),
    migration!("m0025_log_volume"),
    migration!("m0026_automation_failures"),
    migration!("m0035_installation"),
    migration!("m0043_cancelled_runs"),
    migration!("m0044_deletions"),
    migration!("m0045_list_pages"),
    Migration::new(
        "m0046_changes",
        &[
            // SQLite cannot make a column nullable; its database has one node, which is starting.
            Step::Sqlite(include_str!("../sql/m0046_changes_sqlite.sql")),
            Step::Postgres(include_str!("../sql/m0046_changes_postgres.sql")),
        ],
    ),
    Migration::new(
        "m0047_connections",
        &[
            // SQLite cannot drop a constraint; its database has one node, which is starting.
            Step::Sqlite(include_str!("../sql/m0047_connections_sqlite.sql")),
            Step::Postgres(include_str!("../sql/m0047_connections_postgres.sql")),
            Step::Sql(include_str!("../sql/m0047_connections.sql")),
        ],
    ),
    migration!("m0050_connection_renewals"),
    migration!("m0051_app_secrets"),
    migration!("m0052_app_metrics"),
    migration!("m0053_app_rollbacks"),
    migration!("m0054_held_runs"),
    migration!("m0055_run_results"),
    migration!("m0056_agent_tools"),
    migration!("m0057_approved_changes"),
    migration!("m0058_drafts"),
    migration!("m0059_imports"),
    migration!("m0060_notifications"),
    migration!("m0063_version_handlers"),
    migration!("m0064_change_effects"),
    migration!("m0066_app_health"),
    migration!("m0067_asked_by"),
    migration!("m0068_view_rights"),
    migration!("m0071_code_files"),
    migration!("m0072_workspace_creators"),
    migration!("m0073_lists"),
    migration!("m0074_runs_by_automation"),
    Migration::new(
        "m0075_audit_of_apps",
        &[Step::Sql(include_str!("../sql/m0075_audit_of_apps.sql")), Step::Rust(apps_of_audit_entries::set)],
    ),
    migration!("m0076_replays"),
];

/// Returns the name of the newest migration.
#[must_use]
pub fn newest_migration() -> &'static str {
    MIGRATIONS.last().map_or("", Migration::name)
}
