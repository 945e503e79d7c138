//! Backend projects, for the console.

mod column_add;
mod column_drop;
mod column_rename;
mod create;
mod delete;
mod index_add;
mod index_drop;
mod key_create;
mod key_list;
mod key_revoke;
mod key_view;
mod list;
mod log_list;
mod policy_set;
mod policy_test;
mod read;
mod restore;
mod row_delete;
mod row_list;
mod row_read;
mod row_update;
mod rows_export;
mod rows_import;
mod rows_insert;
mod settings_change;
mod settings_view;
mod table_create;
mod table_drop;
mod table_precondition;
mod view;

use backend_data::ProjectRef;
use kernel::{AuditEntry, Context};
use projects::{ProjectAccess, projects::ProjectSummary};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;
use application::Problem;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_projects, cost = 5))
        .routes(op!(create::create_project, cost = 10))
        .routes(op!(read::read_project, cost = 2))
        .routes(op!(delete::delete_project, cost = 5))
        .routes(op!(restore::restore_project, cost = 5))
        .routes(op!(key_list::list_project_keys))
        .routes(op!(key_create::create_project_key, cost = 5))
        .routes(op!(key_revoke::revoke_project_key))
        .routes(op!(table_create::create_project_table))
        .routes(op!(table_drop::drop_project_table))
        .routes(op!(column_add::add_project_column))
        .routes(op!(column_rename::rename_project_column))
        .routes(op!(column_drop::drop_project_column))
        .routes(op!(index_add::add_project_index))
        .routes(op!(index_drop::drop_project_index))
        .routes(op!(log_list::list_project_requests, cost = 2))
        .routes(op!(settings_change::change_project_settings))
        .routes(op!(policy_set::set_table_policy))
        .routes(op!(policy_test::test_table_policy))
        .routes(op!(rows_export::export_project_rows, cost = 5))
        .routes(op!(rows_import::import_project_rows, cost = 5))
        .routes(op!(row_list::list_project_rows))
        .routes(op!(rows_insert::insert_project_rows))
        .routes(op!(row_read::read_project_row))
        .routes(op!(row_update::update_project_row))
        .routes(op!(row_delete::delete_project_row))
}

/// Returns the project of a proof of access.
async fn get_project(api: &Api, access: &ProjectAccess) -> Result<ProjectSummary, Problem> {
    let found = api.store().project(access.member().workspace(), access.project()).await?;
    found.ok_or_else(|| Problem::not_found("project"))
}

/// Returns the location of the rows of the project of a proof of access.
async fn project_ref(api: &Api, access: &ProjectAccess) -> Result<ProjectRef, Problem> {
    let found = get_project(api, access).await?;
    api.project_ref(&found.project).await
}

/// Returns an audit entry about a change to a project's tables or rows.
fn audit_entry(ctx: &Context, action: &'static str, access: &ProjectAccess, detail: Value) -> AuditEntry {
    ctx.audit_entry(action).workspace(access.member().workspace()).target(access.project()).detail(detail)
}
