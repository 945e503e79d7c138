//! Checks requests and responses against `docs/openapi.json`.
//!
//! The client checks status, content type and body of every response that it reads, so the description is compared with
//! the server wherever a suite goes: a response that is not described fails the test that sent the request. If a
//! request succeeds, its body and the names in its query are checked too, since the description must allow what the
//! server accepts.

mod times;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use http::{HeaderMap, Method, StatusCode, header};
use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};

/// URI under which validators resolve the document.
const DOCUMENT_URI: &str = "https://qala.invalid/openapi.json";

/// Number of references that are followed to find out whether a schema declares members.
const MAX_REF_DEPTH: usize = 8;

static DESCRIPTION: LazyLock<Result<ApiDescription, String>> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let text = std::fs::read(&file).with_context(|| file.display().to_string());
    let description = text.and_then(|text| ApiDescription::new(serde_json::from_slice(&text)?));
    description.map_err(|error| format!("{error:#}"))
});

#[derive(Debug)]
pub(crate) struct SentRequest {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: bytes::Bytes,
    /// False if the server is of another release than the description.
    pub(crate) is_contract_checked: bool,
}

impl SentRequest {
    /// Method, path and query, for messages.
    pub(crate) fn request_line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// A response; without a `body` if it is streamed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceivedResponse<'a> {
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Option<&'a [u8]>,
}

/// Checks a request and its response against the description.
pub(crate) fn check(sent: &SentRequest, received: ReceivedResponse<'_>) -> Result<()> {
    if !sent.is_contract_checked {
        return Ok(());
    }
    let description = DESCRIPTION.as_ref().map_err(|error| anyhow!("docs/openapi.json: {error}"))?;
    description.check(sent, received)
}

/// The parsed description with the validators of its schemas.
struct ApiDescription {
    document: Value,
    paths: Vec<String>,
    registry: Registry<'static>,
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

impl ApiDescription {
    fn new(document: Value) -> Result<Self> {
        let paths = document["paths"].as_object().context("the description has no paths")?;
        let mut paths: Vec<String> = paths.keys().cloned().collect();
        // A literal segment takes precedence over a parameter.
        paths.sort_by_key(|path| path.matches('{').count());
        let mut closed_document = document.clone();
        close_schemas(&document, &mut closed_document);
        let registry = Registry::new().add(DOCUMENT_URI, closed_document)?.prepare()?;
        Ok(Self { document, paths, registry, validators: Mutex::default() })
    }

    fn check(&self, sent: &SentRequest, received: ReceivedResponse<'_>) -> Result<()> {
        // Preflight requests are not described, and a request with a `Host` is for an app.
        if sent.method == Method::OPTIONS || sent.headers.contains_key(header::HOST) {
            return Ok(());
        }
        let (path, query) = sent.path.split_once('?').unwrap_or((&sent.path, ""));
        let is_head = sent.method == Method::HEAD;
        let method = if is_head { "get".to_owned() } else { sent.method.as_str().to_lowercase() };
        let Some(template) = self.find_path_template(path) else { return check_undescribed(path, received) };
        let at = format!("/paths/{}/{method}", escape_pointer_token(template));
        let Some(operation) = self.document.pointer(&at) else { return check_undescribed(path, received) };
        let status = received.status.as_str();
        let response = &operation["responses"][status];
        ensure!(response.is_object(), "{status} is not a described response of {method} {template}");
        // Errors that many operations have are described once.
        let (response, response_at) = match response["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            Some(component) => {
                let shared = self.document.pointer(component).context("a component that is not there")?;
                (shared, component.to_owned())
            }
            None => (response, format!("{at}/responses/{status}")),
        };
        // Webhooks accept any body.
        if received.status.is_success() && !template.starts_with("/v1/hooks/") {
            self.check_request(sent, query, operation, &at)
                .with_context(|| format!("{method} {template} accepted a request"))?;
        }
        if is_head || received.status == StatusCode::NOT_MODIFIED {
            return Ok(());
        }

        let is_empty = received.body.is_none_or(<[u8]>::is_empty);
        // `Prefer: return=minimal` asks for an empty response.
        if is_empty && received.status.is_success() && sent.headers.contains_key("prefer") {
            return Ok(());
        }
        let Some(content) = response["content"].as_object() else {
            ensure!(is_empty, "{status} of {method} {template} is described without a body");
            return Ok(());
        };
        let kind = media_type(received.headers);
        let described = content.get(kind).with_context(|| {
            format!("{kind:?} is not a described content type of {status} of {method} {template}")
        })?;
        match received.body {
            Some(body) if is_json(kind) && described.get("schema").is_some() => {
                let body = serde_json::from_slice(body).context("the body is not JSON")?;
                let schema = format!("{response_at}/content/{}/schema", escape_pointer_token(kind));
                let fits = self.validate(&schema, &body).and_then(|()| times::check_times(template, &body));
                fits.with_context(|| format!("{status} of {method} {template}"))
            }
            _ => Ok(()),
        }
    }

    fn check_request(&self, sent: &SentRequest, query: &str, operation: &Value, at: &str) -> Result<()> {
        let parameters: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().collect();
        // Rows are filtered by columns, so a parameter may have any name.
        let allows_any_name = parameters
            .iter()
            .any(|it| it["in"] == "query" && it["schema"]["additionalProperties"].is_object());
        for (name, _) in url::form_urlencoded::parse(query.as_bytes()) {
            let described = parameters.iter().any(|it| it["in"] == "query" && it["name"] == *name);
            ensure!(described || allows_any_name, "with the undescribed parameter {name:?}");
        }
        let kind = media_type(&sent.headers);
        let content = &operation["requestBody"]["content"];
        if sent.body.is_empty() || !content.is_object() {
            return Ok(());
        }
        ensure!(content[kind].is_object(), "of the undescribed content type {kind:?}");
        if kind != "application/json" {
            return Ok(());
        }
        // A reader may ignore a mark (RFC 8259 section 8.1), as the server does.
        let body = sent.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&sent.body);
        let body = serde_json::from_slice(body).context("with a body that is not JSON")?;
        self.validate(&format!("{at}/requestBody/content/{}/schema", escape_pointer_token(kind)), &body)
    }

    /// Returns the described path that matches a path.
    fn find_path_template(&self, path: &str) -> Option<&str> {
        // Other products' clients add a version segment. These paths are described once, without it.
        let path = path.replacen("/rest/v1/", "/rest/", 1);
        let matches = |template: &&String| {
            let mut segments = path.split('/');
            let all_match = template.split('/').all(|described| {
                segments.next().is_some_and(|segment| {
                    described == segment || described.starts_with('{') && !segment.is_empty()
                })
            });
            all_match && segments.next().is_none()
        };
        self.paths.iter().find(matches).map(String::as_str)
    }

    fn validate(&self, schema: &str, value: &Value) -> Result<()> {
        let validator = self.validator(schema)?;
        let differences = validator.iter_errors(value).map(|error| {
            let at = error.instance_path().as_str();
            format!("{error} (at {:?})", if at.is_empty() { "/" } else { at })
        });
        let differences: Vec<String> = differences.collect();
        if !differences.is_empty() {
            bail!("{}", differences.join("; "));
        }
        Ok(())
    }

    /// Returns the validator of the schema at a JSON pointer. It is compiled once.
    fn validator(&self, schema: &str) -> Result<Arc<Validator>> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators.get(schema) {
            return Ok(Arc::clone(validator));
        }
        let fragment = schema.replace('{', "%7B").replace('}', "%7D");
        let reference = json!({"$ref": format!("{DOCUMENT_URI}#{fragment}")});
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        let validator = options.offline().with_registry(&self.registry).build(&reference);
        let validator = Arc::new(validator.map_err(|error| anyhow!("{schema}: {error}"))?);
        validators.insert(schema.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

/// Allows responses outside the description: pages, apps and the agent server, and 404 and 405 below `/v1`.
fn check_undescribed(path: &str, received: ReceivedResponse<'_>) -> Result<()> {
    let is_rejected = matches!(received.status.as_u16(), 404 | 405);
    ensure!(
        is_rejected || !path.starts_with("/v1/"),
        "{path} is not described, but the status is {}",
        received.status
    );
    Ok(())
}

fn media_type(headers: &HeaderMap) -> &str {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim()
}

/// True for media types of a single JSON value; JSON Lines are not.
fn is_json(kind: &str) -> bool {
    kind == "application/json" || kind.ends_with("+json")
}

/// Escapes a reference token of a JSON pointer (RFC 6901).
fn escape_pointer_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// Closes every schema of a value to undeclared members. The description leaves responses open, so that they can grow,
/// but everything that they have today must be described.
fn close_schemas(document: &Value, part: &mut Value) {
    match part {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "example" | "examples" | "enum" | "const" | "default" => {}
                    "properties" => {
                        for property in member.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
                            close_schema(document, property);
                            close_schemas(document, property);
                        }
                    }
                    "schema" | "items" | "additionalProperties" => {
                        close_schema(document, member);
                        close_schemas(document, member);
                    }
                    _ => close_schemas(document, member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close_schemas(document, item)),
        _ => {}
    }
}

fn close_schema(document: &Value, schema: &mut Value) {
    if declares_members(document, schema, MAX_REF_DEPTH)
        && let Some(schema) = schema.as_object_mut()
    {
        schema.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// True if a schema declares the members of its objects.
fn declares_members(document: &Value, schema: &Value, depth: usize) -> bool {
    if depth == 0 || !schema.is_object() {
        return false;
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        return document.pointer(target).is_some_and(|target| declares_members(document, target, depth - 1));
    }
    let of = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    if of("allOf").any(|part| declares_members(document, part, depth - 1)) {
        return true;
    }
    let mut choices = of("oneOf").chain(of("anyOf")).peekable();
    if choices.peek().is_some() {
        // A choice that allows any object leaves the whole schema open; a choice that allows no object does not matter.
        let allows_no_object = |choice: &Value| {
            choice.get("type").is_some_and(|kind| kind != "object" && kind != "array")
                || choice["type"] == "array"
                || choice.get("enum").is_some()
        };
        return choices
            .all(|choice| allows_no_object(choice) || declares_members(document, choice, depth - 1));
    }
    schema["properties"].as_object().is_some_and(|members| !members.is_empty())
        && schema.get("additionalProperties").is_none()
}

#[cfg(test)]
mod pages;

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::*;

    fn description() -> ApiDescription {
        let operation = json!({
            "parameters": [{"in": "query", "name": "limit", "schema": {"type": "integer"}}],
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}},
            "responses": {
                "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Made"}}}},
                "204": {"description": "Nothing."},
                "409": {"content": {"application/json": {}}},
                "404": {"$ref": "#/components/responses/Missing"},
            },
        });
        let name = json!({"type": "string", "maxLength": 3});
        ApiDescription::new(json!({
            "paths": {
                "/v1/items/{id}": {"post": operation},
                "/v1/items/own": {"post": {"responses": {"204": {"description": "Nothing."}}}},
            },
            "components": {"responses": {
                "Missing": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}},
            }, "schemas": {
                "New": {"type": "object", "required": ["name"], "properties": {"name": name}},
                "Made": {"allOf": [{"$ref": "#/components/schemas/New"}, {"type": "object", "properties": {
                    "at": {"type": "string", "format": "date-time"}, "any": {},
                    "of": {"type": "array", "items": {"$ref": "#/components/schemas/New"}}}}]},
            }},
        }))
        .unwrap()
    }

    fn post(path: &str, status: u16, body: &Value) -> Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request_body = Bytes::from_static(b"{\"name\":\"ab\"}");
        let sent_request = SentRequest {
            method: Method::POST,
            path: path.to_owned(),
            headers: headers.clone(),
            body: request_body,
            is_contract_checked: true,
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let status = StatusCode::from_u16(status)?;
        description().check(&sent_request, ReceivedResponse { status, headers: &headers, body: Some(&body) })
    }

    #[track_caller]
    fn assert_differs(difference: Result<()>, what: &str) {
        let difference = format!("{:#}", difference.unwrap_err());
        assert!(difference.contains(what), "{difference}");
    }

    #[test]
    fn described_responses_pass() {
        let whole =
            json!({"name": "abc", "at": "2026-01-01T00:00:00.000Z", "any": {"x": 1}, "of": [{"name": "a"}]});
        post("/v1/items/1", 200, &whole).unwrap();
        post("/v1/items/1?limit=1", 409, &json!({"anything": 1})).unwrap();
        post("/v1/items/1", 404, &json!({"name": "a"})).unwrap();
        post("/v1/items/own", 204, &Value::Null).unwrap();
        post("/v1/missing", 404, &json!({})).unwrap();
        post("/page", 200, &json!({})).unwrap();
    }

    /// Collects the examples at and below `at` that do not conform to their schemas.
    fn compare_examples(
        description: &ApiDescription,
        at: &str,
        checked: &mut usize,
        mismatches: &mut Vec<String>,
    ) {
        let part = description.document.pointer(at).unwrap();
        if let Some(members) = part.as_object() {
            let schema = if part.get("schema").is_some() { format!("{at}/schema") } else { at.to_owned() };
            let listed = part["examples"].as_array().into_iter().flatten();
            let named = part["examples"].as_object().into_iter().flatten().map(|(_, named)| &named["value"]);
            let examples = listed.chain(named);
            let is_property = at.ends_with("/properties");
            for example in part.get("example").into_iter().chain(examples).filter(|_| !is_property) {
                *checked += 1;
                if let Err(difference) = description.validate(&schema, example) {
                    mismatches.push(format!("{at}: {difference:#}"));
                }
            }
            for name in members.keys().filter(|name| is_property || !name.starts_with("example")) {
                compare_examples(
                    description,
                    &format!("{at}/{}", escape_pointer_token(name)),
                    checked,
                    mismatches,
                );
            }
        } else if let Some(items) = part.as_array() {
            for index in 0..items.len() {
                compare_examples(description, &format!("{at}/{index}"), checked, mismatches);
            }
        }
    }

    #[test]
    fn every_example_conforms_to_its_schema() {
        let (mut checked, mut mismatches) = (0, Vec::new());
        compare_examples(DESCRIPTION.as_ref().unwrap(), "", &mut checked, &mut mismatches);
        assert!(
            mismatches.is_empty(),
            "{} of {checked} examples do not conform to their schemas:\n{}",
            mismatches.len(),
            mismatches.join("\n")
        );
        assert!(checked > 50, "only {checked} examples were checked");
    }

    #[test]
    fn every_difference_is_reported() {
        assert_differs(post("/v1/items/1", 418, &json!({})), "418 is not a described response");
        assert_differs(post("/v1/items/1", 200, &json!({})), "\"name\" is a required property");
        assert_differs(post("/v1/items/1", 200, &json!({"name": "abcd"})), "longer than 3 characters");
        assert_differs(post("/v1/items/1", 404, &json!({"name": "abcd"})), "longer than 3 characters");
        assert_differs(post("/v1/items/1", 200, &json!({"name": "a", "at": "noon"})), "date-time");
        assert_differs(post("/v1/items/1", 200, &json!({"name": "a", "more": 1})), "more");
        assert_differs(
            post("/v1/items/1", 200, &json!({"name": "a", "of": [{"name": "a", "more": 1}]})),
            "more",
        );
        assert_differs(post("/v1/items/1?order=1", 200, &json!({"name": "a"})), "order");
        assert_differs(post("/v1/items/own", 204, &json!({})), "without a body");
        assert_differs(post("/v1/missing", 200, &json!({})), "is not described");
    }
}
