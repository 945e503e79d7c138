//! The code of a new version.

use std::{collections::BTreeMap, sync::Arc};

use apps::versions::Handlers;
use kernel::{Context, id::WorkspaceId};
use runs::engine::{Bundle, FailureCode};

use crate::{Application, Problem};

/// Refuses code that does not compile or exports no handler, and returns what it exports.
///
/// # Errors
/// [`Problem`] that says what is wrong with the code, or 503 `overloaded` if it cannot be checked now.
pub async fn check_code(
    app: &Application,
    ctx: &Context,
    workspace: WorkspaceId,
    files: &BTreeMap<String, String>,
) -> Result<Handlers, Problem> {
    let bundle = Arc::new(Bundle::new(ctx.new_id(), files.clone()));
    match app.engine().check(workspace, ctx.caller.user(), bundle).await {
        Ok(exported) if exported.scheduled || exported.fetch => Ok(handlers(exported)),
        Ok(_) => Err(Problem::invalid_field(
            "files",
            "must have a `main.js` or `main.ts` whose default export has a function `scheduled` or `fetch`",
        )),
        Err(failure) if failure.code == FailureCode::Overloaded => {
            Err(Problem::unavailable("overloaded", "The code cannot be checked right now.")
                .hint("Try again in a moment."))
        }
        Err(failure) => {
            Err(Problem::invalid_field("files", format_args!("does not compile: {}", failure.message)))
        }
    }
}

/// Returns the handlers of a checked bundle as a version records them.
pub(crate) fn handlers(exported: runs::engine::ExportedHandlers) -> Handlers {
    Handlers { scheduled: exported.scheduled, fetch: exported.fetch }
}
