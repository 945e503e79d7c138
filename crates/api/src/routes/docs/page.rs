//! The API reference as a page: how to authenticate, and all operations with their parameters, bodies and responses.

use std::fmt::Write as _;

use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use super::{
    sample::sample,
    types::{Member, kind, members},
};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// An operation of the description.
struct Operation<'d> {
    method: String,
    path: &'d str,
    described: &'d Value,
}

impl<'d> Operation<'d> {
    fn text(&self, member: &str) -> &'d str {
        self.described[member].as_str().unwrap_or_default()
    }

    fn id(&self) -> &'d str {
        self.text("operationId")
    }

    fn callers(&self) -> Vec<&'d str> {
        self.described["x-qala-callers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            if let Some(described) = item.get(method) {
                all.push(Operation { method: method.to_uppercase(), path, described });
            }
        }
    }
    all
}

/// Returns the meaning of a code of callers.
fn caller(code: &str) -> &'static str {
    match code {
        "C" => "a person in the console",
        "T:read" => "a token with the scope read",
        "T:write" => "a token with the scope write",
        "T:any" => "any token",
        "K" => "a project key",
        _ => "anybody",
    }
}

pub(super) fn page(document: &Value) -> Markup {
    let all = operations(document);
    let tags = document["tags"].as_array().into_iter().flatten();
    let groups: Vec<(&str, &str, Vec<&Operation<'_>>)> = tags
        .map(|tag| {
            let name = tag["name"].as_str().unwrap_or_default();
            let within = all.iter().filter(|operation| operation.described["tags"][0] == name).collect();
            (name, tag["description"].as_str().unwrap_or_default(), within)
        })
        .collect();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Qala API" }
                link rel="stylesheet" href="/docs/page.css";
            }
            body {
                header {
                    h1 { "Qala API" }
                    p { (all.len()) " operations. For programs: "
                        a href="/openapi.json" { "/openapi.json" } " (OpenAPI 3.1)." }
                    div #search hidden {
                        label for="find" { "Find an operation" }
                        input #find type="search" placeholder="path, name or words" autocomplete="off" aria-describedby="found";
                        p #found role="status" {}
                    }
                    nav aria-label="Contents" {
                        ul {
                            li { a href="#authentication" { "authentication" } }
                            li { a href="#errors" { "errors" } }
                            @for (name, _, within) in &groups {
                                @if !within.is_empty() { li { a href={ "#tag-" (name) } { (name) } } }
                            }
                        }
                    }
                }
                main {
                    (authentication())
                    (errors())
                    @for (name, about, within) in &groups {
                        @if !within.is_empty() {
                            section id={ "tag-" (name) } {
                                h2 { (name) }
                                p { (about) }
                                @for operation in within { (article(document, operation)) }
                            }
                        }
                    }
                }
                script src="/docs/page.js" {}
            }
        }
    }
}

fn authentication() -> Markup {
    html! {
        section #authentication {
            h2 { "Authentication" }
            p { "Each operation says who may call it. The examples on this page use the variables below." }
            h3 { "A person: the session cookie" }
            p { "Signing in sets a cookie. Requests that change something with the cookie must have the console's " code { "Origin" } ", and so must sign-in requests. Without the development sign-in, start with "
                a href="#start_email_sign_in" { "a code by e-mail" } "." }
            pre tabindex="0" { code { "URL=http://127.0.0.1:7420\n"
                "curl -c qala.cookies -H \"Origin: $URL\" -H 'Content-Type: application/json' \\\n  -d '{\"email\":\"dev@localhost.localdomain\"}' \"$URL/v1/auth/dev-login\"\n"
                "curl -b qala.cookies \"$URL/v1/session\"" } }
            h3 { "A program: a personal access token" }
            p { "A token acts for its person in one workspace, with the scopes " code { "read" } " or " code { "write" } ". Create it in the console; it is shown only once. "
                "See " a href="#create_token" { "how to create one" } " and " a href="#start_device_login" { "how a command line gets one" } "." }
            pre tabindex="0" { code { "curl -H \"Authorization: Bearer $TOKEN\" \"$URL/v1/tokens/self\"" } }
            h3 { "Rows: a project key" }
            p { "A secret key (" code { "qk_sec_…" } ") is for servers. A publishable key (" code { "qk_pub_…" } ") may be used in browsers: it can do what the policies of a table allow. "
                "See " a href="#create_project_key" { "how to create one" } "." }
            pre tabindex="0" { code { "curl -H \"Authorization: Bearer $KEY\" \"$URL/v1/projects/$PROJECT_ID/rest/notes?limit=10\"" } }
            h3 { "Precedence" }
            p { code { "Authorization" } " takes precedence over the cookie. If it is not valid, the response is 401 even if the cookie is." }
        }
    }
}

/// Meaning of error statuses in general; an operation may have more codes.
const CODES: [(&str, &str, &str); 10] = [
    (
        "400",
        "invalid_request",
        "The body, path or query does not match the schema; the message names the field.",
    ),
    ("401", "unauthorized", "There is no credential, or it is not valid."),
    ("403", "forbidden, admin_only, console_only, insufficient_scope", "You are not allowed to do this."),
    ("404", "…_not_found", "The object does not exist, or you may not see it; the code says what it is."),
    (
        "406",
        "not_acceptable, not_one_row",
        "No type in Accept is supported, or Accept requests exactly one row and there is none or more.",
    ),
    ("409", "conflict and others", "The request conflicts with the current state."),
    ("413", "too_large", "The body is too large."),
    ("415", "unsupported_media_type", "The operation does not support the Content-Type."),
    ("429", "rate_limited", "Too many requests. Retry after the seconds in Retry-After."),
    ("503", "unavailable, overloaded", "The server cannot handle the request right now. Retry later."),
];

fn codes(status: &str) -> &'static str {
    CODES.iter().find(|(known, _, _)| *known == status).map_or("", |(_, codes, _)| codes)
}

fn errors() -> Markup {
    html! {
        section #errors {
            h2 { "Errors" }
            p { "All errors have the same format: a code for programs, a message for people and the id of the request." }
            pre tabindex="0" { code { "{\"error\":{\"code\":\"app_not_found\",\"message\":\"There is no such app, or you may not see it.\",\n          \"hint\":\"…\",\"requestId\":\"req_…\"},\"requestId\":\"req_…\"}" } }
            div.wide tabindex="0" { table {
                thead { tr { th scope="col" { "Status" } th scope="col" { "Codes" } th scope="col" { "When" } } }
                tbody { @for (status, codes, when) in CODES { tr { td { (status) } td { code { (codes) } } td { (when) } } } }
            } }
        }
    }
}

fn article(document: &Value, operation: &Operation<'_>) -> Markup {
    let id = operation.id();
    let body = operation.described["requestBody"]["content"].as_object();
    let words = format!("{} {} {} {}", operation.method, operation.path, operation.text("summary"), id);
    html! {
        article id=(id) data-words=(words.to_lowercase()) {
            h3 {
                a.anchor href={ "#" (id) } { span.method { (operation.method) } " " code { (operation.path) } }
            }
            p.summary { (operation.text("summary")) }
            @for paragraph in operation.text("description").split("\n\n").filter(|text| !text.is_empty()) { p { (paragraph) } }
            p.quiet {
                "For " (operation.callers().into_iter().map(caller).collect::<Vec<_>>().join(" or ")) ". "
                @match operation.text("x-qala-right") { "" | "-" => {}, right => { "Right: " code { (right) } ". " } }
                code { (id) }
            }
            @if let Some(parameters) = operation.described["parameters"].as_array() { (table("Parameters", &parameters.iter().map(|one| parameter(document, one)).collect::<Vec<_>>())) }
            @for (media_type, content) in body.into_iter().flatten() {
                (table(&format!("Body, {media_type}"), &members(document, &content["schema"])))
                @if members(document, &content["schema"]).is_empty() { p.quiet { "Body, " (media_type) ": " (kind(document, &content["schema"])) } }
            }
            pre tabindex="0" { code { (curl(document, operation)) } }
            (responses(document, operation))
        }
    }
}

fn parameter(document: &Value, one: &Value) -> Member {
    let text = |member: &str| one[member].as_str().unwrap_or_default().to_owned();
    Member {
        name: text("name"),
        kind: format!("{}; {}", text("in"), kind(document, &one["schema"])),
        required: one["required"] == true,
        about: text("description"),
    }
}

fn table(caption: &str, rows: &[Member]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div.wide tabindex="0" { table {
                caption { (caption) }
                thead { tr { th scope="col" { "Name" } th scope="col" { "Type and limits" } th scope="col" { "About" } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { code { (row.name) } @if row.required { " " span.required { "required" } } }
                            td { (row.kind) }
                            td { (row.about) }
                        }
                    }
                }
            } }
        }
    }
}

fn responses(document: &Value, operation: &Operation<'_>) -> Markup {
    html! {
        div.wide tabindex="0" { table {
            caption { "Responses" }
            thead { tr { th scope="col" { "Status" } th scope="col" { "Body" } th scope="col" { "About" } } }
            tbody {
                @for (status, response) in operation.described["responses"].as_object().into_iter().flatten() {
                    @let response = resolve(document, response);
                    tr {
                        th scope="row" { (status) }
                        td {
                            @if status.starts_with(['2', '3']) {
                                @for (media_type, content) in response["content"].as_object().into_iter().flatten() {
                                    p { code { (media_type) } " " (name(&content["schema"])) }
                                }
                            } @else { a href="#errors" { (codes(status)) } }
                        }
                        td { (response["description"].as_str().unwrap_or_default()) }
                    }
                }
            }
        } }
        @for (status, response) in operation.described["responses"].as_object().into_iter().flatten() {
            @if status.starts_with('2') {
                @let found = members(document, &response["content"]["application/json"]["schema"]);
                @if !found.is_empty() {
                    details { summary { "Members of " (status) } (table("Response", &found)) }
                }
            }
        }
    }
}

/// Returns the component that `described` refers to, or `described` itself if it refers to none.
fn resolve<'d>(document: &'d Value, described: &'d Value) -> &'d Value {
    let pointer = described["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(described)
}

/// Returns the name of the component that `schema` refers to; empty if it refers to none.
fn name(schema: &Value) -> &str {
    schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).unwrap_or_default()
}

/// Returns a command for a shell, with the variables of the guide.
fn curl(document: &Value, operation: &Operation<'_>) -> String {
    let callers = operation.callers();
    let token = callers.iter().any(|code| code.starts_with("T:"));
    let changes = operation.method != "GET";
    let mut line = String::from("curl");
    if operation.method != "GET" {
        let _ = write!(line, " -X {}", operation.method);
    }
    if callers.contains(&"K") {
        line.push_str(" -H \"Authorization: Bearer $KEY\"");
    } else if token {
        line.push_str(" -H \"Authorization: Bearer $TOKEN\"");
    } else if callers.contains(&"C") {
        line.push_str(" -b qala.cookies");
    }
    let cookie = callers.contains(&"C") && !token;
    let signs_in = callers.contains(&"P") && operation.path.starts_with("/v1/auth/");
    if changes && (cookie || signs_in) {
        line.push_str(" -H \"Origin: $URL\"");
    }
    let schema = &operation.described["requestBody"]["content"]["application/json"];
    if schema.is_object() {
        let named = schema["examples"].as_object().and_then(|all| all.values().next());
        let given = schema.get("example").or_else(|| named.map(|example| &example["value"]));
        let body = given.cloned().unwrap_or_else(|| sample(document, &schema["schema"]));
        let quoted = body.to_string().replace('\'', "'\\''");
        let _ = write!(line, " -H 'Content-Type: application/json' \\\n  -d '{quoted}'");
    }
    let path: Vec<String> = operation.path.split('/').map(variable).collect();
    let _ = write!(line, " \\\n  \"$URL{}\"", path.join("/"));
    line
}

/// Returns a path parameter as a shell variable: `{projectId}` becomes `$PROJECT_ID`.
fn variable(segment: &str) -> String {
    let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return segment.to_owned();
    };
    let mut variable = String::from("$");
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            variable.push('_');
        }
        variable.push(letter.to_ascii_uppercase());
    }
    variable
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_has_an_anchor_a_call_and_its_codes() {
        let document = serde_json::to_value(crate::document()).unwrap();
        let page = page(&document).into_string();
        for operation in operations(&document) {
            assert!(page.contains(&format!("<article id=\"{}\"", operation.id())), "{}", operation.id());
            assert!(curl(&document, &operation).starts_with("curl"), "{}", operation.id());
        }
        for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{link}\"")), "nothing is at #{link}");
        }
    }

    #[test]
    fn texts_of_the_description_are_escaped() {
        let document = json!({
            "tags": [{"name": "a", "description": "<b>"}],
            "paths": {"/v1/{x}": {"post": {"operationId": "make_x", "tags": ["a"], "summary": "<script>", "responses": {},
                "x-qala-callers": ["C"],
                "requestBody": {"content": {"application/json": {"example": {"it's": "<i>"}}}}}}},
        });
        let page = page(&document).into_string();
        assert!(!page.contains("<b>") && !page.contains("<i>") && page.contains("&lt;script&gt;"), "{page}");
        assert!(page.contains("it'\\''s"), "{page}");
        assert!(page.contains("$URL/v1/$X"), "{page}");
    }
}
