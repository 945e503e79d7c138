//! Test of the pages of lists in the description.

use serde_json::Value;

use crate::document;

/// Lists without pages, each with the reason.
const LISTS_WITHOUT_PAGES: [(&str, &str); 14] = [
    ("export_project_rows", "it is the whole table, as a file"),
    ("list_agent_events", "its cursor is a number: `since`"),
    ("list_agent_tools", "a workspace has at most 200"),
    ("list_app_secrets", "an app has at most 50, and names at most 50"),
    ("list_audit_actions", "the program has about a hundred"),
    ("list_changes", "a person has at most 50 open ones"),
    ("list_join_suggestions", "there is at most one"),
    ("list_log_lines", "its cursor is the number of a line: `before`"),
    ("list_passkeys", "a person has at most 20"),
    ("list_run_approvals", "a run asks at most 10 questions"),
    ("list_sign_in_methods", "it follows from the configuration"),
    ("read_overview", "it has the 200 apps that need somebody first"),
    ("search_workspace", "it has the 20 best"),
    ("list_templates", "they are part of the release"),
];

/// Returns the schema of the body of a successful response, without a reference.
fn body<'d>(document: &'d Value, operation: &'d Value) -> &'d Value {
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

#[test]
fn every_list_has_pages() {
    let document = serde_json::to_value(document()).unwrap();
    let mut lists = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let read = &item["get"];
        let (id, body) = (read["operationId"].as_str().unwrap_or_default(), body(&document, read));
        let is_array = body["type"] == "array";
        if !is_array && !body["properties"]["items"].is_object() && !id.starts_with("list_") {
            continue;
        }
        let parameters = read["parameters"].as_array().into_iter().flatten();
        let names: Vec<&str> = parameters.filter_map(|it| it["name"].as_str()).collect();
        let has_pages = ["cursor", "limit"].iter().all(|name| names.contains(name));
        let is_exception = LISTS_WITHOUT_PAGES.iter().any(|(exception, _)| *exception == id);
        assert_ne!(has_pages, is_exception, "{path}: {id} and its exception");
        let headers = &read["responses"]["200"]["headers"];
        let has_next = if is_array {
            // Rows have a header of their own.
            headers["Link"].is_object() || path.contains("/rows") || path.contains("/rest/")
        } else {
            body["properties"]["nextCursor"].is_object()
        };
        assert!(is_exception || has_next, "{path} does not say where the next page is");
        lists += 1;
    }
    assert!(lists > 18, "only {lists} lists");
}
