//! Bounds of a schema, each with a value at it and one beyond it.

use serde_json::{Value, json};
use tests::schema_example;

/// Texts that break what a schema asks of a text: one of them does for each rule.
const INVALID_STRINGS: [&str; 3] = ["no such thing", "~", ""];

/// One bound of one member, with the values at it and beyond it.
#[derive(Debug)]
pub(super) struct Bound {
    /// A JSON pointer into the body, with [`ITEM`] and [`VARIANT`], or the name of a parameter in the query.
    pub(super) pointer: String,
    pub(super) keyword: &'static str,
    pub(super) within: Option<Value>,
    pub(super) beyond: Option<Value>,
}

/// The schema behind references and beside null.
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

/// Returns true if a value breaks a rule.
fn violates(rule: &Value, value: &Value) -> bool {
    let rule = jsonschema::options().should_validate_formats(true).build(rule);
    rule.is_ok_and(|rule| !rule.is_valid(value))
}

/// The name of the only item of an array in a pointer.
const ITEM: &str = "-";
/// Mark before the number of a variant in a pointer.
const VARIANT: &str = "|";

fn depth(at: &str) -> usize {
    at.matches('/').count()
}

/// The bounds that a schema sets, of members to any depth.
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
    // A text with a form of its own cannot be stretched.
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
    // What is given no bound has none, short of what a body may have.
    if is("string") && free && schema.get("maxLength").is_none() && schema.get("const").is_none() {
        add("no maxLength", Some("a".repeat(10_000).into()), None);
    }
    if is("array") && schema.get("maxItems").is_none() && schema["items"].is_object() {
        add("no maxItems", Some(items(1_000)), None);
    }
    for keyword in ["pattern", "format", "enum"] {
        // One that the value breaks, and this alone.
        let rule = json!({keyword: schema.get(keyword)});
        if schema.get(keyword).is_some()
            && is("string")
            && let Some(text) = INVALID_STRINGS.iter().find(|text| violates(&rule, &json!(text)))
        {
            // What fits is the example, which is another test's.
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

/// Values of a schema that differ from each other where it allows that.
fn distinct_example(document: &Value, schema: &Value, index: usize) -> Value {
    let schema = resolve_ref(document, schema);
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

/// The body with a value at a pointer; members on the way are made of their schemas.
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
