//! Descriptions of conditional requests: the `ETag` of responses, and 304.

use utoipa::openapi::{
    RefOr, Response, ResponseBuilder,
    header::{Header, HeaderBuilder},
    path::{Operation, ParameterIn},
    schema::{ObjectBuilder, Type},
};

use crate::http::conditional::{IF_MATCH, IF_NONE_MATCH};

const ETAG: &str = "ETag";

/// Returns `true` if the operation has a header parameter of this name.
pub(super) fn takes(operation: &Operation, header: &str) -> bool {
    operation.parameters.iter().flatten().any(|parameter| match parameter {
        RefOr::T(parameter) => parameter.parameter_in == ParameterIn::Header && parameter.name == header,
        RefOr::Ref(_) => false,
    })
}

/// Describes the `ETag` of each response that has one, and the 304 of an operation that takes `If-None-Match`.
pub(super) fn describe(method: &str, operation: &mut Operation) {
    let takes_known = takes(operation, IF_NONE_MATCH);
    // What a DELETE returns is another object, or the one that is gone.
    let is_conditional = takes_known || method != "DELETE" && takes(operation, IF_MATCH);
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        let RefOr::T(response) = response else { continue };
        if status == "200" && is_conditional && has_object(response) || response.headers.contains_key(ETAG) {
            response.headers.insert(ETAG.to_owned(), etag().into());
        }
    }
    if takes_known {
        let unchanged =
            ResponseBuilder::new().description("You have the object already.").header(ETAG, etag());
        responses.entry("304".to_owned()).or_insert(unchanged.build().into());
    }
}

/// Returns `true` if the response has the object, rather than only that it is gone.
fn has_object(response: &Response) -> bool {
    let schemas = response.content.values().filter_map(|content| match content {
        RefOr::T(content) => content.schema.as_ref(),
        RefOr::Ref(_) => None,
    });
    schemas
        .into_iter()
        .all(|schema| !matches!(schema, RefOr::Ref(body) if body.ref_location.ends_with("/Ack")))
}

fn etag() -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^\"[0-9a-f]{32}\"$"));
    let description = "Entity tag of the object. Send it in `If-Match` to change only what you have seen.";
    HeaderBuilder::new().schema(Some(schema.build())).description(Some(description)).build()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::document;

    /// Reads that have no tag, each with the reason.
    const READS_WITHOUT_TAG: [(&str, &str); 11] = [
        ("read_authorization", "it is decided, not edited"),
        ("read_connector_catalog", "it is part of the program"),
        ("read_device_login", "it is decided, not edited"),
        ("read_invite", "it is a preview, and accepted or not"),
        ("read_overview", "it is computed"),
        ("read_own_token", "it is the credential itself"),
        ("read_queue_health", "it is computed"),
        ("read_retention", "it follows from the plan"),
        ("read_run_answer", "it is computed"),
        ("read_schema", "it is a list of tables"),
        ("read_session", "it is the credential itself"),
    ];
    /// The trace grows while the run is under way, and belongs to it.
    const PARTS_OF_READS: [&str; 1] = ["read_run_trace"];

    fn operations(item: &Value) -> impl Iterator<Item = (&str, &Value)> {
        item.as_object().into_iter().flatten().map(|(method, operation)| (method.as_str(), operation))
    }

    fn takes(operation: &Value, header: &str) -> bool {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        parameters.filter(|it| it["in"] == "header").any(|it| it["name"] == header)
    }

    fn has_tag(operation: &Value) -> bool {
        operation["responses"]["200"]["headers"]["ETag"].is_object()
    }

    fn id(operation: &Value) -> &str {
        operation["operationId"].as_str().unwrap_or_default()
    }

    #[test]
    fn every_read_of_an_object_has_a_tag() {
        let document = serde_json::to_value(document()).unwrap();
        let mut exceptions: Vec<&str> = READS_WITHOUT_TAG.iter().map(|(id, _)| *id).collect();
        exceptions.extend(PARTS_OF_READS);
        let mut tagged = 0;
        for (path, item) in document["paths"].as_object().unwrap() {
            let read = &item["get"];
            if !id(read).starts_with("read_") {
                continue;
            }
            let is_exception = exceptions.contains(&id(read));
            assert_ne!(has_tag(read), is_exception, "{path}: {} and its exception", id(read));
            tagged += usize::from(has_tag(read));
        }
        assert!(tagged > 12, "only {tagged} reads have a tag");
    }

    #[test]
    fn every_write_of_a_tagged_object_takes_a_precondition() {
        let document = serde_json::to_value(document()).unwrap();
        let mut checked = 0;
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations(item) {
                let needs = has_tag(&item["get"]) && ["put", "patch", "delete"].contains(&method);
                if !needs && !takes(operation, "If-Match") {
                    continue;
                }
                assert!(takes(operation, "If-Match"), "{method} {path} takes no If-Match");
                assert!(operation["responses"]["412"].is_object(), "{method} {path} has no 412");
                assert!(method == "delete" || has_tag(operation), "{method} {path} returns no tag");
                checked += 1;
            }
        }
        assert!(checked > 12, "only {checked} writes take a precondition");
    }
}
