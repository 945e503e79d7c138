//! Importing rows from a file.

use projects::{ProjectRight, access::Edit};
use std::sync::{Arc, LazyLock};

use axum::{
    Json,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use backend_data::{Access, Error, FileFormat, ImportOptions, Progress, ProjectRef};
use futures::{StreamExt as _, channel::mpsc, stream};
use kernel::{AuditEntry, ShareId};
use runs::fair_share::{FairSemaphore, ShareLimits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::{self, ApiResult},
        extract::{Params, Path, Spool},
        schemas,
    },
    state::Api,
};
use application::{Problem, ProblemKind, rows_problem, turns::wait_for_turn};

/// Maximum length of a file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Files on the disk at once, two of each person: each may take that much of it.
static FILES: LazyLock<Arc<FairSemaphore>> =
    LazyLock::new(|| FairSemaphore::new(16, ShareLimits { permits: 2, waiting: 0 }));
/// Imports at once, one of each person.
static IMPORTS: LazyLock<Arc<FairSemaphore>> =
    LazyLock::new(|| FairSemaphore::new(4, ShareLimits { permits: 1, waiting: 2 }));
/// Media type that requests progress.
const NDJSON: &str = "application/x-ndjson";

/// Options of the import.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportRows {
    /// Check all rows without writing any.
    #[serde(default)]
    check: bool,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Imported {
    /// Number of rows in the file.
    rows: u64,
    /// Number of rows added: all of them, or 0 if they were only checked.
    imported: u64,
    /// Number of blank lines that were skipped: those of white space only, and in a CSV those of separators only. White
    /// space in a CSV of one column is a value.
    skipped_lines: u64,
    /// Columns of the file that were left out: `created_at`, which the server sets, and columns of a CSV that have values
    /// and no name, by their number: `column 3`.
    ignored_columns: Vec<String>,
}

/// Import rows into a backend project's table
///
/// Accepts CSV with the column names in the first line, a JSON array, or one JSON object per line
/// (`application/x-ndjson`); up to 250,000 rows and 256 MiB. All rows are checked before the first is written. Either
/// all are added or none, and the error names the line of the first row that is not valid. Blank lines are skipped;
/// `created_at` and columns of a CSV without a name are left out. With `Accept: application/x-ndjson`, the response is a
/// sequence of lines: `{"checked": n}` and `{"written": n}` for progress, then the result or an error.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables/{table}/import", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ImportRows
    ),
    request_body(
        content(
            (String = "text/csv", example = json!("id,title\ntea,Buy tea\njam,Buy jam\n")),
            (
                Vec<Object> = "application/json",
                example = json!([{"id": "tea", "title": "Buy tea"}, {"id": "jam", "title": "Buy jam"}])
            ),
            (
                String = "application/x-ndjson",
                example = json!(
                    "{\"id\": \"tea\", \"title\": \"Buy tea\"}\n{\"id\": \"jam\", \"title\": \"Buy jam\"}\n"
                )
            )
        )
    ),
    responses((status = 200, content((Imported = "application/json"), (String = "application/x-ndjson"))))
)]
pub(crate) async fn import_project_rows(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    Params(input): Params<ImportRows>,
    request: Request,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &right).await?;
    let form = file_form(request.headers())?;
    let lines = media_type(request.headers(), header::ACCEPT).eq_ignore_ascii_case(NDJSON);
    let share = ShareId::of(ctx.caller.user(), right.member().workspace());
    let busy =
        || Problem::unavailable("overloaded", "Too many files are being imported. Try again in a moment.");
    let place = FILES.try_acquire(share).ok_or_else(busy)?;
    let file = Spool::receive(request, MAX_FILE_BYTES, &api.http().scratch_dir, api.random()).await?;
    let max_stored_bytes = api.max_stored_bytes(right.member().workspace()).await?;
    // The file may have taken minutes.
    let ctx = api.context_at(api.now(), ctx.caller.clone(), ctx.request_id, ctx.client_ip);
    let audit_entry = audit_entry(&ctx, "row.import", &right, json!({ "table": table }));
    let file = Arc::new(file);
    // Whoever sends a file slowly takes no turn from others.
    let turn = wait_for_turn(&IMPORTS, share, "Too many files are being imported.").await?;
    let permits = (place, turn);
    let import =
        Import { api, project_ref, table, file, check: input.check, form, audit_entry, max_stored_bytes };
    if !lines {
        let done = import.run(None).await?;
        drop(permits);
        return Ok(Json(done).into_response());
    }
    let (progress_tx, progress_rx) = mpsc::unbounded();
    let request_id = ctx.request_id;
    // The client may disconnect. The import continues, and its audit entry is written.
    let done = tokio::spawn(async move {
        let done = import.run(Some(progress_tx)).await;
        drop(permits);
        done
    });
    let last = stream::once(async move {
        let done = done.await.unwrap_or_else(|error| Err(Problem::internal(error)));
        match done {
            Ok(done) => json!(done),
            Err(problem) => error::problem_json(&problem, request_id),
        }
    });
    let lines = progress_rx
        .chain(last)
        .map(|value| Ok::<_, std::convert::Infallible>(Bytes::from(format!("{value}\n"))));
    Ok(([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response())
}

struct Import {
    api: Api,
    project_ref: ProjectRef,
    table: String,
    file: Arc<Spool>,
    check: bool,
    form: FileFormat,
    audit_entry: AuditEntry,
    max_stored_bytes: u64,
}

impl Import {
    async fn run(self, progress_tx: Option<mpsc::UnboundedSender<Value>>) -> Result<Imported, Problem> {
        let Self { api, project_ref, table, file, check, form, audit_entry, max_stored_bytes } = self;
        let progress = progress_tx.map(|sender| -> Arc<dyn Fn(Progress) + Send + Sync> {
            Arc::new(move |progress| {
                // The client may have disconnected.
                let _ = sender.unbounded_send(match progress {
                    Progress::Checked(rows) => json!({ "checked": rows }),
                    Progress::Written(rows) => json!({ "written": rows }),
                });
            })
        });
        let options = ImportOptions { format: form, dry_run: check, progress, ..ImportOptions::default() };
        let rows = api.audited_rows([audit_entry])?.with_storage_limit(Some(max_stored_bytes));
        let done = rows.import(&project_ref, &Access::Owner, &table, file, &options).await;
        let report = done.map_err(import_problem)?;
        if !check {
            api.deliver_outbox(&project_ref).await;
        }
        Ok(Imported {
            rows: report.rows,
            imported: if check { 0 } else { report.rows },
            skipped_lines: report.skipped_lines,
            ignored_columns: report.ignored_columns,
        })
    }
}

/// Adds the details, which say what line it was, as the hint, since the errors of these operations have no details.
fn import_problem(error: Error) -> Problem {
    let details = error.details().map(str::to_owned);
    let problem = rows_problem(error);
    match details {
        Some(details) => problem.hint(details),
        None => problem,
    }
}

/// Returns the media type of a header, without parameters.
fn media_type(headers: &HeaderMap, name: header::HeaderName) -> &str {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

fn file_form(headers: &HeaderMap) -> Result<FileFormat, Problem> {
    match media_type(headers, header::CONTENT_TYPE).to_ascii_lowercase().as_str() {
        "text/csv" => Ok(FileFormat::Csv),
        "application/json" => Ok(FileFormat::Json),
        NDJSON => Ok(FileFormat::JsonLines),
        _ => {
            let message = "The body must be CSV, a JSON array, or one JSON object per line.";
            Err(Problem::new(ProblemKind::Unsupported, "unsupported_media_type", message)
                .hint("Send Content-Type: text/csv, application/json or application/x-ndjson."))
        }
    }
}
