//! Types of the description in words: the kind of a value, and its limits.

use serde_json::Value;

/// Maximum depth of the listed members. A schema may contain itself.
const DEPTH: usize = 4;

/// A member of a body or response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Path from the body, such as `trigger.cron` or `files[].name`.
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) about: String,
}

/// Returns the schema that `schema` refers to.
pub(super) fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let target = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    target.and_then(|target| document.pointer(target)).unwrap_or(schema)
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    of("oneOf").chain(of("anyOf")).filter(|choice| choice["type"] != "null")
}

fn is_nullable(schema: &Value) -> bool {
    let null = |kind: &Value| kind == "null";
    schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(null))
        || ["oneOf", "anyOf"].iter().any(|keyword| {
            schema[*keyword].as_array().is_some_and(|all| all.iter().any(|it| it["type"] == "null"))
        })
}

/// Describes a type, as in `text, 1 to 60 characters` or `array of text, at most 20, or null`.
pub(super) fn kind(document: &Value, schema: &Value) -> String {
    let mut said = describe_type(document, schema, 0);
    if is_nullable(schema) {
        said.push_str(", or null");
    }
    if let Some(value) = schema.get("default") {
        said.push_str(&format!("; default {value}"));
    }
    said
}

fn describe_type(document: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolved(document, schema);
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        return if values.len() == 1 { values.concat() } else { format!("one of {}", values.join(", ")) };
    }
    let mut some = choices(schema);
    if let Some(first) = some.next() {
        let all: Vec<String> = std::iter::once(first)
            .chain(some)
            .map(|choice| describe_type(document, choice, depth + 1))
            .collect();
        let mut different: Vec<&str> = Vec::new();
        for one in &all {
            if !different.contains(&one.as_str()) {
                different.push(one);
            }
        }
        return different.join(" or ");
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => text(schema),
        Some(number @ ("integer" | "number")) => {
            format!("{number}{}", range(schema, "minimum", "maximum", "", ""))
        }
        Some("array") if depth < DEPTH => {
            let items = describe_type(document, &schema["items"], depth + 1);
            format!("array of {items}{}", range(schema, "minItems", "maxItems", ", ", " items"))
        }
        Some(other) => other.to_owned(),
        None if schema["allOf"].is_array() => "object".to_owned(),
        None => "any JSON".to_owned(),
    }
}

fn text(schema: &Value) -> String {
    let mut said =
        schema["format"].as_str().map_or_else(|| "text".to_owned(), |format| format!("text, {format}"));
    if let Some(pattern) = schema["pattern"].as_str() {
        said.push_str(&format!(", {pattern}"));
    }
    said + &range(schema, "minLength", "maxLength", ", ", " characters")
}

fn range(schema: &Value, least: &str, most: &str, before: &str, unit: &str) -> String {
    let before = if before.is_empty() { ", " } else { before };
    match (schema.get(least).filter(|least| **least != 0 || unit.is_empty()), schema.get(most)) {
        (Some(least), Some(most)) if least == most => format!("{before}{least}{unit}"),
        (Some(least), Some(most)) => format!("{before}{least} to {most}{unit}"),
        (Some(least), None) => format!("{before}at least {least}{unit}"),
        (None, Some(most)) => format!("{before}at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

/// Returns the members of a schema's objects, including those of nested objects.
pub(super) fn members(document: &Value, schema: &Value) -> Vec<Member> {
    let mut found = Vec::new();
    collect(document, schema, "", 0, &mut found);
    found
}

fn collect(document: &Value, schema: &Value, at: &str, depth: usize, found: &mut Vec<Member>) {
    if depth >= DEPTH {
        return;
    }
    let schema = resolved(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten().chain(choices(schema)) {
        collect(document, part, at, depth + 1, found);
    }
    if schema["items"].is_object() {
        collect(document, &schema["items"], &format!("{at}[]"), depth, found);
    }
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name));
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let full = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let about =
            member["description"].as_str().or_else(|| resolved(document, member)["description"].as_str());
        let entry = Member {
            name: full.clone(),
            kind: kind(document, member),
            required: required(name),
            about: about.unwrap_or_default().to_owned(),
        };
        if !found.contains(&entry) {
            found.push(entry);
        }
        collect(document, member, &full, depth + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_described_with_their_limits() {
        let document =
            json!({"components": {"schemas": {"Role": {"type": "string", "enum": ["admin", "member"]}}}});
        let said = |schema: Value| kind(&document, &schema);
        assert_eq!(
            said(json!({"type": "string", "minLength": 1, "maxLength": 60})),
            "text, 1 to 60 characters"
        );
        assert_eq!(
            said(json!({"type": ["string", "null"], "format": "date-time"})),
            "text, date-time, or null"
        );
        assert_eq!(
            said(json!({"type": "integer", "minimum": 1, "maximum": 200, "default": 50})),
            "integer, 1 to 200; default 50"
        );
        assert_eq!(
            said(json!({"type": "array", "items": {"$ref": "#/components/schemas/Role"}, "maxItems": 5})),
            "array of one of admin, member, at most 5 items"
        );
        assert_eq!(said(json!({})), "any JSON");
    }

    #[test]
    fn nested_members_are_listed_up_to_a_depth() {
        let document = json!({"components": {"schemas": {"Tree": {"type": "object", "required": ["of"], "properties": {
            "of": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}, "n": {"type": "integer"}}}}}});
        let found = members(&document, &json!({"$ref": "#/components/schemas/Tree"}));
        let names: Vec<&str> = found.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names[..3], ["n", "of", "of[].n"]);
        assert!(found[1].required && !found[0].required);
        assert!(names.len() < 20, "{names:?}");
    }
}
