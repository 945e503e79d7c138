//! Exporting all rows of a table as a file.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use backend_data::{Access, ErrorKind, Format, Page, ProjectRef, ReadOptions};
use bytes::Bytes;
use futures::stream;
use projects::ProjectAccess;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::project_ref;
use crate::{
    auth::{Authorized, Console, late_proof},
    http::{
        error::ApiResult,
        extract::{Params, Path},
        schemas,
    },
    state::Api,
};
use application::{
    Problem,
    late_proof::{LateProof, ProveAgain as _},
    rows_problem,
};

/// Maximum number of rows of an export.
const MAX_ROWS: u64 = 5_000;
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of rows that are read first.
const PAGE_SIZE: u64 = 500;
/// Bytes of a page, about; the pages of long rows have fewer of them.
const PAGE_BYTES: u64 = 4 << 20;
/// Most attempts to read a page while the store is not available.
const MAX_ATTEMPTS: u32 = 5;
/// Time before the second of them; twice that before each further one.
const BACKOFF: Duration = Duration::from_millis(100);

/// Format of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileForm {
    #[default]
    Csv,
    Json,
}

/// Format of the file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportRows {
    /// Default: CSV.
    #[serde(default)]
    #[param(inline)]
    format: FileForm,
    /// `true` begins a CSV with a byte order mark, by which spreadsheets recognize UTF-8.
    #[serde(default)]
    bom: bool,
}

/// Export all rows of a backend project's table
///
/// Up to 5,000 rows, ordered by id, sent while they are read. `Content-Range` has the number of rows that are sent and
/// the total, so that you can show progress and detect an incomplete file. A file is cut off if you lose access to the
/// project, or your role is lowered, while it is sent.
#[utoipa::path(
    get, path = "/v1/backend/projects/{projectId}/tables/{table}/export", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ExportRows
    ),
    responses(
        (
            status = 200,
            description = "The rows.",
            content((Vec<Object> = "application/json"), (String = "text/csv"))
        )
    )
)]
pub(crate) async fn export_project_rows(
    State(api): State<Api>,
    Authorized(ctx, access): Authorized<Console, ProjectAccess>,
    Path((project, table)): Path<(String, String)>,
    Params(input): Params<ExportRows>,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &access).await?;
    let late_proof = late_proof(&api, &ctx, &project, &access);
    let form = input.format;
    let has_mark = input.bom && form == FileForm::Csv;
    let mut pages = Pages { api, project: project_ref, late_proof, table, form, next_rows: PAGE_SIZE };
    let first = pages.read("", 0).await?;
    let total = first.total.unwrap_or(first.rows);
    let coming = total.min(MAX_ROWS);
    let range = if coming == 0 { format!("*/{total}") } else { format!("0-{}/{total}", coming - 1) };
    let (media, ending) = match form {
        FileForm::Csv => ("text/csv; charset=utf-8", "csv"),
        FileForm::Json => ("application/json", "json"),
    };
    let name = format!("attachment; filename=\"{}.{ending}\"", pages.table);
    let state = Some((pages, first, 0_u64));
    let chunks = stream::unfold(state, move |state| async move {
        let (mut pages, page, sent) = state?;
        let chunk = file_chunk(form, &page, sent);
        let is_first = sent == 0;
        let chunk = if has_mark && is_first { [BYTE_ORDER_MARK, &chunk[..]].concat().into() } else { chunk };
        let sent = sent + page.rows;
        let next = match page.next_cursor {
            Some(cursor) if sent < MAX_ROWS => match pages.read(&cursor, sent).await {
                Ok(next) if next.rows > 0 => Some(next),
                Ok(_) => None,
                // Aborts the response, so that the client notices.
                Err(problem) => {
                    tracing::warn!(code = &*problem.code, rows = sent, "an export is cut off");
                    return Some((Err(problem), None));
                }
            },
            _ => None,
        };
        Some(match next {
            Some(page) => (Ok(chunk), Some((pages, page, sent))),
            None => (Ok(close_file(form, chunk)), None),
        })
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    for (header, text) in [(header::CONTENT_RANGE, range), (header::CONTENT_DISPOSITION, name)] {
        headers.insert(header, HeaderValue::try_from(text).map_err(Problem::internal)?);
    }
    Ok(response)
}

/// The pages of a table. Each has as many rows as their length and the store allow: a file that has begun can tell no error.
struct Pages {
    api: Api,
    project: ProjectRef,
    late_proof: LateProof,
    table: String,
    form: FileForm,
    next_rows: u64,
}

impl Pages {
    /// Reads the page after a cursor; `sent` rows were read before. The first page has the number of all rows.
    async fn read(&mut self, cursor: &str, sent: u64) -> Result<Page, Problem> {
        let format = match self.form {
            FileForm::Csv => Format::Csv,
            FileForm::Json => Format::Json,
        };
        let options = ReadOptions { include_count: sent == 0, format, ..ReadOptions::default() };
        let mut attempts = 1;
        let mut is_first_read = sent == 0;
        loop {
            // Clients decide how long a file takes, and the store how long a read does: neither outlasts the right to it.
            if !is_first_read {
                self.late_proof.prove().await?;
            }
            is_first_read = false;
            let rows = self.next_rows.min(MAX_ROWS - sent);
            let query = format!("limit={rows}&cursor={cursor}");
            let read = self.api.rows().list(&self.project, &Access::Owner, &self.table, &query, &options);
            match read.await {
                Ok(page) => {
                    let bytes = (page.body.len() as u64).max(1);
                    let most = PAGE_SIZE.min(rows * 2);
                    self.next_rows = (page.rows * PAGE_BYTES / bytes).clamp(1, most);
                    return Ok(page);
                }
                Err(error) => match error.kind() {
                    ErrorKind::TooLarge | ErrorKind::Timeout if rows > 1 => {
                        self.next_rows = (rows / 4).max(1);
                    }
                    ErrorKind::Unavailable if attempts < MAX_ATTEMPTS => {
                        tokio::time::sleep(BACKOFF * 2_u32.pow(attempts - 1)).await;
                        attempts += 1;
                    }
                    _ => return Err(rows_problem(error)),
                },
            }
        }
    }
}

/// Returns the part of the file for a page: only the first has column names, and rows are joined.
fn file_chunk(form: FileForm, page: &Page, sent: u64) -> Bytes {
    match form {
        FileForm::Csv if sent == 0 => page.body.clone(),
        FileForm::Csv => {
            // Names of columns have no line break.
            let end = page.body.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            page.body.slice(end..)
        }
        FileForm::Json => {
            let rows = page.body.slice(1.min(page.body.len())..page.body.len().saturating_sub(1));
            let lead: &[u8] = if sent == 0 { b"[" } else { b"," };
            [lead, &rows].concat().into()
        }
    }
}

fn close_file(form: FileForm, chunk: Bytes) -> Bytes {
    match form {
        FileForm::Csv => chunk,
        FileForm::Json => [&chunk[..], b"]"].concat().into(),
    }
}
