//! Collection of the bounds of a schema, each with a value at the bound and one beyond it.

use serde_json::{Value, json};
use tests::schema_example;

/// Invalid texts, of which at least one violates each rule of a schema.
const INVALID_STRINGS: [&str; 3] = ["not a valid value", "~", ""];

/// A bound of a member, with a value at it and one beyond it.
#[derive(Debug)]
pub(super) struct Bound {
    /// JSON pointer into the body, with [`ITEM`] and [`VARIANT`], or name of a query parameter.
    pub(super) pointer: String,
    pub(super) keyword: &'static str,
    pub(super) within: Option<Value>,
    pub(super) beyond: Option<Value>,
}

/// Resolves references and `null` alternatives of a schema.
fn resolve_ref<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..8 {
        if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            schema = document.pointer(target).unwrap_or(&Value::Null);
        } else if let Some(choices) = schema["oneOf"].as_array() {
            let mut some = choices.iter().filter(|choice| choice["type"] != "null");
            match (some.next(), some.next()) {
                (Some(one), None) => schema = one,
                _ => return schema,
            }
        } else {
            return schema;
        }
    }
    schema
}

/// True if a value violates a rule.
fn violates(rule: &Value, value: &Value) -> bool {
    let rule = jsonschema::options().should_validate_formats(true).build(rule);
    rule.is_ok_and(|rule| !rule.is_valid(value))
}

/// Segment of a pointer for the only item of an array.
const ITEM: &str = "-";
/// Prefix of a segment of a pointer for the variant with a number.
const VARIANT: &str = "|";

fn depth(at: &str) -> usize {
    at.matches('/').count()
}

/// Collects the bounds of a schema and of its members to any depth.
pub(super) fn collect_bounds(document: &Value, schema: &Value, at: &str, found: &mut Vec<Bound>) {
    let schema = resolve_ref(document, schema);
    let mut add = |keyword, within, beyond| {
        found.push(Bound { pointer: at.to_owned(), keyword, within, beyond });
    };
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|it| it == kind),
        it => it == kind,
    };
    let number = |keyword: &str| schema[keyword].as_i64();
    let size = |keyword: &str| schema[keyword].as_u64().and_then(|size| usize::try_from(size).ok());
    if let Some(most) = number("maximum") {
        add("maximum", Some(json!(most)), Some(json!(i128::from(most) + 1)));
    }
    if let Some(least) = number("minimum") {
        add("minimum", Some(json!(least)), Some(json!(i128::from(least) - 1)));
    }
    // Texts with a format, pattern or enumeration cannot be lengthened.
    let free = ["pattern", "format", "enum"].iter().all(|keyword| schema.get(*keyword).is_none());
    if let Some(most) = size("maxLength").filter(|_| free) {
        add("maxLength", Some("a".repeat(most).into()), Some("a".repeat(most + 1).into()));
    }
    if let Some(least) = size("minLength").filter(|least| free && *least > 0) {
        add("minLength", Some("a".repeat(least).into()), Some("a".repeat(least - 1).into()));
    }
    let items = |count: usize| -> Value {
        let item = |index| match at {
            "/emails" => format!("guest{index}@example.test").into(),
            _ => distinct_example(document, &schema["items"], index),
        };
        (0..count).map(item).collect()
    };
    if let Some(most) = size("maxItems").filter(|most| *most <= 5000) {
        add("maxItems", Some(items(most)), Some(items(most + 1)));
    }
    if let Some(least) = size("minItems").filter(|least| *least > 0) {
        add("minItems", Some(items(least)), Some(items(least - 1)));
    }
    // A text without a bound is limited only by the size of the body.
    if is("string") && free && schema.get("maxLength").is_none() && schema.get("const").is_none() {
        add("no maxLength", Some("a".repeat(10_000).into()), None);
    }
    if is("array") && schema.get("maxItems").is_none() && schema["items"].is_object() {
        add("no maxItems", Some(items(1_000)), None);
    }
    for keyword in ["pattern", "format", "enum"] {
        // The value must violate only this rule.
        let rule = json!({keyword: schema.get(keyword)});
        if schema.get(keyword).is_some()
            && is("string")
            && let Some(text) = INVALID_STRINGS.iter().find(|text| violates(&rule, &json!(text)))
        {
            // Valid values are the examples, which another test sends.
            add(keyword, None, Some(json!(text)));
        }
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        collect_bounds(document, member, &format!("{at}/{name}"), found);
    }
    if is("array") && depth(at) < 4 {
        collect_bounds(document, &schema["items"], &format!("{at}/{ITEM}"), found);
    }
    for (index, variant) in schema["oneOf"].as_array().into_iter().flatten().enumerate() {
        collect_bounds(document, variant, &format!("{at}/{VARIANT}{index}"), found);
    }
}

/// Returns a value of a schema that is different for each index, if the schema allows that.
fn distinct_example(document: &Value, schema: &Value, index: usize) -> Value {
    let mut schema = resolve_ref(document, schema);
    if let Some(first) = schema["oneOf"].get(0) {
        schema = resolve_ref(document, first);
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices[index % choices.len()].clone();
    }
    match schema_example(document, schema) {
        Value::Object(mut members) => {
            for name in ["name", "host", "id"] {
                if let Some(member) = members.get_mut(name) {
                    *member = distinct_example(document, &schema["properties"][name], index);
                }
            }
            members.into()
        }
        Value::String(text) if schema["format"] == "email" => format!("a{index}{text}").into(),
        Value::String(text) => {
            let another: Value = format!("{text}{index}").into();
            let fits = !schema
                .get("pattern")
                .is_some_and(|pattern| violates(&json!({"pattern": pattern}), &another));
            if fits { another } else { text.into() }
        }
        value => value,
    }
}

/// Returns the body with a value at a pointer. Missing members on the way are created from their schemas.
pub(super) fn with_value_at(
    document: &Value,
    schema: &Value,
    body: &Value,
    at: &str,
    value: &Value,
) -> Value {
    let Some((name, rest)) = at.strip_prefix('/').map(|at| at.split_once('/').unwrap_or((at, ""))) else {
        return value.clone();
    };
    let schema = resolve_ref(document, schema);
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    if name == ITEM {
        return json!([with_value_at(document, &schema["items"], &body[0], &rest, value)]);
    }
    if let Some(index) = name.strip_prefix(VARIANT).and_then(|index| index.parse::<usize>().ok()) {
        let variant = &schema["oneOf"][index];
        return with_value_at(document, variant, &schema_example(document, variant), &rest, value);
    }
    let mut body = if body.is_object() { body.clone() } else { schema_example(document, schema) };
    let inner = with_value_at(document, &schema["properties"][name], &body[name], &rest, value);
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), inner);
    }
    body
}
