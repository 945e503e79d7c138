//! Options for a response that a request's headers give, and the response with them.

use std::fmt::Write as _;

use application::{Problem, ProblemKind};
use axum::{
    body::Body,
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use backend_data::{Format, Page, Prefer, ReadOptions, Return, WriteOptions, WriteOutcome};
use bytes::Bytes;

use super::{error::RestError, log::RowCount};
use crate::{http::conditional::EntityTag, state::Api};

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const RANGE_UNIT: HeaderName = HeaderName::from_static("range-unit");

const ARRAY_TYPE: &str = "application/json";
const ARRAY_STRIPPED_TYPE: &str = "application/vnd.pgrst.array+json;nulls=stripped";
const OBJECT_TYPE: &str = "application/vnd.pgrst.object+json";
const OBJECT_STRIPPED_TYPE: &str = "application/vnd.pgrst.object+json;nulls=stripped";
const CSV_TYPE: &str = "text/csv; charset=utf-8";
const NEXT_CURSOR: HeaderName = HeaderName::from_static("next-cursor");

/// Representation of rows: as an array, or one row as an object; and their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Representation {
    is_object: bool,
    format: Format,
}

const ARRAY: Representation = Representation { is_object: false, format: Format::Json };
const OBJECT: Representation = Representation { is_object: true, format: Format::Json };
const CSV: Representation = Representation { is_object: false, format: Format::Csv };

/// Options of `Prefer`, `Accept` and `Range`.
#[derive(Debug)]
pub(crate) struct ResponseOptions {
    prefer: Prefer,
    representation: Representation,
    range: Option<(u64, Option<u64>)>,
}

impl FromRequestParts<Api> for ResponseOptions {
    type Rejection = RestError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, RestError> {
        let form = negotiate(header_values(&parts.headers, &header::ACCEPT)).ok_or_else(|| {
            let message =
                "The response can be application/json, application/vnd.pgrst.object+json or text/csv.";
            Problem::new(ProblemKind::NotAcceptable, "not_acceptable", message)
        })?;
        let prefer = applicable_preferences(&parse_prefer(&parts.headers)?, &parts.method);
        Ok(Self { prefer, representation: form, range: requested_range(&parts.headers) })
    }
}

impl ResponseOptions {
    /// Returns the options for reading rows.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            include_count: self.prefer.count.is_some(),
            count_kind: self.prefer.count,
            single_object: self.representation.is_object,
            format: self.representation.format,
            range: self.range,
        }
    }

    /// Returns the options for writing rows.
    pub(super) fn write_options(&self) -> WriteOptions {
        let format = self.representation.format;
        WriteOptions { format, ..WriteOptions::from_prefer(&self.prefer, self.representation.is_object) }
    }

    /// Returns the format for writing a row.
    pub(super) fn format(&self) -> Format {
        self.representation.format
    }

    /// Returns a page of rows, with status 206 if the rows were counted and the page does not have all of them.
    pub(crate) fn page_response(&self, page: Page) -> Response {
        let partial = page.total.is_some_and(|total| page.rows < total);
        let status = if partial { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        let mut response = self.rows_response(status, page.body);
        response.extensions_mut().insert(RowCount(page.rows));
        set_content_range(&mut response, &content_range(page.offset, page.rows, page.total));
        if let Some(next) = page.next_cursor.and_then(|next| HeaderValue::try_from(next).ok()) {
            response.headers_mut().insert(NEXT_CURSOR, next);
        }
        response
    }

    /// Returns `true` if JSON rows with all of their columns are requested: they have an entity tag.
    pub(super) fn has_whole_rows(&self, query: &str) -> bool {
        query.is_empty() && self.representation.format == Format::Json
    }

    /// Returns the result of an update of one row, with the row's tag if it has one.
    pub(super) fn changed_row_response(&self, written: WriteOutcome, has_tag: bool) -> Response {
        let tag = (has_tag && !written.body.is_empty()).then(|| EntityTag::of_bytes(&written.body));
        let mut response = self.change_response(written);
        if let Some(tag) = tag {
            tag.insert_into(&mut response);
        }
        response
    }

    /// Returns a single row.
    pub(super) fn row_response(&self, page: Page) -> Response {
        self.rows_response(StatusCode::OK, page.body)
    }

    /// Returns the result of an insert into the table at `path`.
    pub(super) fn insert_response(&self, path: &str, written: WriteOutcome) -> Response {
        let status = if written.inserted == Some(0) { StatusCode::OK } else { StatusCode::CREATED };
        if self.prefer.returns != Some(Return::HeadersOnly) {
            return self.write_response(status, status, written);
        }
        let location = single_id(&written).map(|id| format!("{path}?id=eq.{}", percent_encode(&id)));
        let mut response = self.with_applied_preferences(status.into_response());
        if let Some(location) = location.and_then(|location| HeaderValue::try_from(location).ok()) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response.extensions_mut().insert(RowCount(written.rows));
        self.set_write_range(&mut response, 0, written.rows);
        response
    }

    /// Returns the result of an upsert of one row.
    pub(super) fn put_response(&self, written: WriteOutcome) -> Response {
        let made = written.inserted == Some(1);
        let (shown, minimal) = match made {
            true => (StatusCode::CREATED, StatusCode::CREATED),
            false => (StatusCode::OK, StatusCode::NO_CONTENT),
        };
        let rows = written.rows;
        let mut response = self.write_response(shown, minimal, written);
        self.set_write_range(&mut response, rows, rows);
        response
    }

    /// Returns the result of an update, with a range from the first of the updated rows.
    pub(super) fn update_response(&self, written: WriteOutcome) -> Response {
        let rows = written.rows;
        let mut response = self.change_response(written);
        self.set_write_range(&mut response, rows, rows);
        response
    }

    /// Returns the result of a delete.
    pub(super) fn change_response(&self, written: WriteOutcome) -> Response {
        self.write_response(StatusCode::OK, StatusCode::NO_CONTENT, written)
    }

    /// Sets the `Content-Range` of a write: the rows in the response and, if requested, the number of written rows.
    fn set_write_range(&self, response: &mut Response, shown: u64, touched: u64) {
        set_content_range(response, &content_range(0, shown, self.prefer.count.is_some().then_some(touched)));
    }

    fn write_response(&self, shown: StatusCode, minimal: StatusCode, written: WriteOutcome) -> Response {
        let touched = written.rows;
        let mut response = if self.prefer.returns == Some(Return::Minimal) {
            self.with_applied_preferences(minimal.into_response())
        } else {
            self.rows_response(shown, written.body)
        };
        self.set_write_range(&mut response, 0, touched);
        response.extensions_mut().insert(RowCount(touched));
        response
    }

    fn rows_response(&self, status: StatusCode, body: Bytes) -> Response {
        let media = match self.representation {
            Representation { format: Format::Csv, .. } => CSV_TYPE,
            Representation { is_object: false, format: Format::Json } => ARRAY_TYPE,
            Representation { is_object: false, format: Format::Stripped } => ARRAY_STRIPPED_TYPE,
            Representation { is_object: true, format: Format::Json } => OBJECT_TYPE,
            Representation { is_object: true, format: Format::Stripped } => OBJECT_STRIPPED_TYPE,
        };
        self.with_applied_preferences(body_response(status, media, body))
    }

    fn with_applied_preferences(&self, mut response: Response) -> Response {
        if let Some(applied) =
            self.prefer.preference_applied().and_then(|text| HeaderValue::try_from(text).ok())
        {
            response.headers_mut().insert(PREFERENCE_APPLIED, applied);
        }
        response
    }
}

/// Returns the id of the written row, if there is exactly one and the response has it.
fn single_id(written: &WriteOutcome) -> Option<String> {
    if written.rows != 1 {
        return None;
    }
    let value: serde_json::Value = serde_json::from_slice(&written.body).ok()?;
    let row = value.get(0).unwrap_or(&value);
    row.get("id")?.as_str().map(str::to_owned)
}

fn percent_encode(id: &str) -> String {
    percent_encoding::utf8_percent_encode(id, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Returns a response with JSON from the engine.
pub(crate) fn json_response(status: StatusCode, body: Bytes) -> Response {
    body_response(status, ARRAY_TYPE, body)
}

fn body_response(status: StatusCode, media: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

fn header_values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

fn parse_prefer(headers: &HeaderMap) -> Result<Prefer, RestError> {
    let mut values = header_values(headers, &PREFER);
    Ok(match (values.next(), values.next()) {
        (None, _) => Prefer::default(),
        (Some(one), None) => Prefer::parse(one)?,
        (Some(_), Some(_)) => Prefer::parse(&header_values(headers, &PREFER).collect::<Vec<_>>().join(","))?,
    })
}

/// Returns the preferences that apply to a method. The others have no effect, and the response does not list them.
fn applicable_preferences(prefer: &Prefer, method: &Method) -> Prefer {
    // With several rows, there is no single URL to return.
    let returns = prefer.returns.map(|returns| match returns {
        Return::HeadersOnly if *method != Method::POST => Return::Minimal,
        other => other,
    });
    match *method {
        Method::POST => Prefer { returns, ..*prefer },
        Method::PUT | Method::PATCH | Method::DELETE => {
            Prefer { returns, resolution: None, missing_default: false, ..*prefer }
        }
        _ => {
            let Prefer { count, strict, lenient, utc, .. } = *prefer;
            Prefer { count, strict, lenient, utc, ..Prefer::default() }
        }
    }
}

/// Returns the best representation that all values of `Accept` allow; `None` if there is none.
fn negotiate<'a>(values: impl Iterator<Item = &'a str>) -> Option<Representation> {
    let mut said = false;
    let mut best: Option<(f32, Representation)> = None;
    for range in values.flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty()) {
        said = true;
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let is = |names: &[&str]| names.iter().any(|name| media.eq_ignore_ascii_case(name));
        let mut form = if is(&["*/*", "application/*", ARRAY_TYPE, "application/vnd.pgrst.array+json"]) {
            ARRAY
        } else if is(&[OBJECT_TYPE, "application/vnd.pgrst.object"]) {
            OBJECT
        } else if is(&["text/csv"]) {
            CSV
        } else {
            continue;
        };
        let mut quality = 1.0;
        let strippable = media.to_ascii_lowercase().starts_with("application/vnd.pgrst.");
        let mut other = false;
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "q" | "Q" => quality = value.parse().unwrap_or(0.0),
                "nulls" if strippable && value == "stripped" => form.format = Format::Stripped,
                // A variant that is not supported.
                "nulls" => other = true,
                _ => {}
            }
        }
        if !other && quality > 0.0 && best.is_none_or(|(least, _)| quality > least) {
            best = Some((quality, form));
        }
    }
    if said { best.map(|(_, form)| form) } else { Some(ARRAY) }
}

/// Returns the rows in `Range`. A range that is not valid, or in other units, is ignored (RFC 9110, section 14.2).
fn requested_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let unit = headers.get(RANGE_UNIT).map(HeaderValue::as_bytes);
    if unit.is_some_and(|unit| !unit.eq_ignore_ascii_case(b"items")) {
        return None;
    }
    parse_range(headers.get(header::RANGE)?.to_str().ok()?)
}

fn parse_range(text: &str) -> Option<(u64, Option<u64>)> {
    fn number(text: &str) -> Option<u64> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    }
    let (first, last) = text.strip_prefix("items=").unwrap_or(text).split_once('-')?;
    let last = if last.is_empty() { None } else { Some(number(last)?) };
    Some((number(first)?, last))
}

/// Formats `first-last/total`, with `*` for no rows and for a total that was not requested.
fn content_range(offset: u64, rows: u64, total: Option<u64>) -> String {
    let mut text = String::with_capacity(24);
    // Writing to a `String` cannot fail.
    let _ = match rows {
        0 => text.write_char('*'),
        rows => write!(text, "{offset}-{}", offset.saturating_add(rows - 1)),
    };
    let _ = match total {
        None => text.write_str("/*"),
        Some(total) => write!(text, "/{total}"),
    };
    text
}

fn set_content_range(response: &mut Response, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_acceptable_representation_is_chosen() {
        let cases: [(&[&str], Option<Representation>); 13] = [
            (&[], Some(ARRAY)),
            (&["*/*"], Some(ARRAY)),
            (&["application/json; charset=utf-8"], Some(ARRAY)),
            (&["Application/JSON"], Some(ARRAY)),
            (&["application/vnd.pgrst.object+json"], Some(OBJECT)),
            (
                &["application/vnd.pgrst.object+json;nulls=stripped"],
                Some(Representation { format: Format::Stripped, ..OBJECT }),
            ),
            (&["application/json;nulls=stripped"], None),
            (&["text/html, */*;q=0.1"], Some(ARRAY)),
            (&["application/json;q=0.5, application/vnd.pgrst.object+json"], Some(OBJECT)),
            (&["text/xml", "application/json"], Some(ARRAY)),
            (&["text/csv"], Some(CSV)),
            (&["application/json;q=0"], None),
            (&["application/json;q=nan"], None),
        ];
        for (values, expected) in cases {
            assert_eq!(negotiate(values.iter().copied()), expected, "{values:?}");
        }
    }

    #[test]
    fn ranges_of_rows_are_read_and_others_ignored() {
        let cases = [
            ("0-24", Some((0, Some(24)))),
            ("items=5-9", Some((5, Some(9)))),
            ("7-", Some((7, None))),
            // Reversed; the engine refuses it with 416.
            ("1-0", Some((1, Some(0)))),
            ("-5", None),
            ("bytes=0-24", None),
            ("0-24,30-40", None),
            ("+1-2", None),
            ("0-99999999999999999999", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_range(text), expected, "{text:?}");
        }
    }

    #[test]
    fn content_range_has_the_rows_and_the_total_if_known() {
        let cases = [
            ((0, 25, None), "0-24/*"),
            ((0, 25, Some(3573)), "0-24/3573"),
            ((10, 1, Some(11)), "10-10/11"),
            ((0, 0, None), "*/*"),
            ((15, 0, Some(15)), "*/15"),
        ];
        for ((offset, rows, total), expected) in cases {
            assert_eq!(content_range(offset, rows, total), expected);
        }
    }

    #[test]
    fn only_preferences_for_the_method_are_applied() {
        let all = "return=headers-only, count=exact, resolution=merge-duplicates, missing=default";
        let applied = |method: &Method| {
            applicable_preferences(&Prefer::parse(all).unwrap(), method).preference_applied()
        };
        assert_eq!(applied(&Method::GET).as_deref(), Some("count=exact"));
        assert_eq!(applied(&Method::PATCH).as_deref(), Some("return=minimal, count=exact"));
        assert_eq!(
            applied(&Method::POST).as_deref(),
            Some("resolution=merge-duplicates, missing=default, return=headers-only, count=exact")
        );
    }
}
