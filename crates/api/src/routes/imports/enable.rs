//! Turning an import on.

use std::collections::{BTreeMap, BTreeSet};

use application::{Problem, imports::EnabledImport};
use axum::{Json, extract::State};
use imports::imports::Choices;
use kernel::{
    authority::{AppRight, CanEdit},
    id::{ConnectionId, ImportId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::ImportView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// Most items that can be left out.
const MAX_SKIPPED: usize = 40;
/// Most bindings; a report has fewer connections.
const MAX_BINDINGS: usize = 12;

/// Choices with which an import is turned on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnableImport {
    /// Ids of connections by the keys of the report's `connections`.
    #[serde(default)]
    bindings: BTreeMap<String, ConnectionId>,
    /// Ids of items that are left out. What only they lead to does not run either.
    #[serde(default)]
    #[schema(max_items = 40)]
    skip: Vec<String>,
}

/// The import, and what is left to do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportTurnedOn {
    #[serde(flatten)]
    import: ImportView,
    /// Steps that an admin has to take in the console before the app can use everything that it asks for.
    needs_console: Vec<String>,
}

/// Turn an import on
///
/// Gives the app the hosts and the connections that it needs, and starts its automation. Every key of the report's `connections` needs
/// a binding, unless all its steps are skipped. Only an admin can let the app use a connection. The warnings of the report
/// then name what depends on the items that are left out.
#[utoipa::path(
    post, path = "/v1/imports/{id}/enable", tag = "imports",
    params(("id" = kernel::id::ImportId, Path, description = "The import.")),
    request_body(
        content = EnableImport,
        example = json!({"bindings": {"slack": "conn_01h455vb4pex5vsknk084sn02q"}, "skip": ["3f1c9a52-6d1f-4a40-9d5a-0c2a6d1b7e11"]})
    ),
    responses((status = 200, body = ImportTurnedOn))
)]
pub(crate) async fn enable_import(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (ImportId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ImportTurnedOn>> {
    let EnableImport { bindings, skip } = payload.json()?;
    if skip.len() > MAX_SKIPPED {
        return Err(
            Problem::invalid_field("skip", format_args!("must have at most {MAX_SKIPPED} entries")).into()
        );
    }
    if bindings.len() > MAX_BINDINGS {
        return Err(Problem::invalid_field(
            "bindings",
            format_args!("must have at most {MAX_BINDINGS} members"),
        )
        .into());
    }
    let choices = Choices { bindings, skip: BTreeSet::from_iter(skip) };
    let EnabledImport { import, needs_console } = api.enable_import(&ctx, &right, id, &choices).await?;
    let context = api.import_context(&ctx, right.member(), &import.report).await?;
    Ok(Json(ImportTurnedOn { import: ImportView::of(import, context), needs_console }))
}
