//! Checking arguments against a schema.

use serde_json::{Map, Value};

use super::{Bounds, InputSchema, InvalidToolInput, Kind, ObjectSchema, Schema};

impl InputSchema {
    /// Checks arguments.
    ///
    /// # Errors
    /// [`InvalidToolInput`] with the path of the first value that is not allowed.
    pub fn validate(&self, input: &Map<String, Value>) -> Result<(), InvalidToolInput> {
        self.root.check(input, "")
    }
}

impl ObjectSchema {
    fn check(&self, object: &Map<String, Value>, path: &str) -> Result<(), InvalidToolInput> {
        let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if let Some(missing) = self.required.iter().find(|name| !object.contains_key(*name)) {
            return Err(error(&join(missing), "is required"));
        }
        for (name, value) in object {
            match self.properties.get(name) {
                Some(schema) => schema.check(value, &join(name))?,
                None if self.is_open => {}
                // Names that were made up may be long; the path has those of the schema only.
                None => {
                    let known: Vec<&str> = self.properties.keys().map(String::as_str).collect();
                    return Err(error(path, format!("may have only these members: {}", known.join(", "))));
                }
            }
        }
        Ok(())
    }
}

impl Schema {
    /// Checks a value.
    pub(super) fn check(&self, value: &Value, path: &str) -> Result<(), InvalidToolInput> {
        match (&self.kind, value) {
            (Kind::Text { length, format }, Value::String(text)) => {
                check_length(*length, text.chars().count(), path, "characters")?;
                if let Some(format) = format.filter(|format| !format.matches(text)) {
                    return Err(error(path, format!("must have the format {}", format.as_str())));
                }
            }
            (Kind::Number { is_integer, range }, Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                // In this version of JSON Schema 1.0 is an integer too.
                if *is_integer && number.fract() != 0.0 {
                    return Err(error(path, "must be a whole number"));
                }
                if !range.contains(number) {
                    return Err(error(path, describe("must be", *range, "")));
                }
            }
            (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::List { items, length }, Value::Array(values)) => {
                check_length(*length, values.len(), path, "items")?;
                for (index, value) in values.iter().enumerate() {
                    items.check(value, &format!("{path}[{index}]"))?;
                }
            }
            (Kind::Object(schema), Value::Object(object)) => schema.check(object, path)?,
            (kind, _) => return Err(error(path, format!("must be {}", name_of(kind)))),
        }
        if self.choices.is_empty() || self.choices.iter().any(|choice| is_equal(choice, value)) {
            return Ok(());
        }
        let choices: Vec<String> = self.choices.iter().map(Value::to_string).collect();
        Err(error(path, format!("must be one of {}", choices.join(", "))))
    }
}

/// Compares values as JSON Schema does: `1` and `1.0` are one number.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

fn check_length(bounds: Bounds<u64>, length: usize, path: &str, unit: &str) -> Result<(), InvalidToolInput> {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    if bounds.contains(length) { Ok(()) } else { Err(error(path, describe("must have", bounds, unit))) }
}

fn describe<T: std::fmt::Display>(verb: &str, bounds: Bounds<T>, unit: &str) -> String {
    let range = match (bounds.min, bounds.max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "finite".to_owned(),
    };
    format!("{verb} {range} {unit}").trim_end().to_owned()
}

fn name_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text { .. } => "a string",
        Kind::Number { is_integer: true, .. } => "an integer",
        Kind::Number { is_integer: false, .. } => "a number",
        Kind::Boolean => "true or false",
        Kind::List { .. } => "an array",
        Kind::Object(_) => "an object",
    }
}

fn error(path: &str, reason: impl Into<String>) -> InvalidToolInput {
    InvalidToolInput { path: path.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, input: Value) -> Result<(), (String, String)> {
        let Value::Object(input) = input else { panic!("{input}") };
        let schema = InputSchema::parse(schema).unwrap();
        schema.validate(&input).map_err(|error| (error.path, error.reason))
    }

    fn check_property(property: &Value, value: &Value) -> Result<(), String> {
        let schema = json!({ "type": "object", "properties": { "p": property } });
        check(schema, json!({ "p": value })).map_err(|(path, reason)| {
            assert!(path.starts_with('p'), "{path}");
            reason
        })
    }

    #[test]
    fn values_have_their_type_and_bounds() {
        for (property, allowed, refused) in [
            (
                json!({"type": "string"}),
                vec![json!(""), json!("a")],
                vec![json!(1), json!(null), json!(["a"])],
            ),
            (
                json!({"type": "string", "minLength": 2, "maxLength": 3}),
                vec![json!("éé"), json!("👍👍👍")],
                vec![json!("é"), json!("abcd")],
            ),
            (json!({"type": "string", "format": "uuid"}), vec![], vec![json!("a")]),
            (json!({"type": "integer"}), vec![json!(1), json!(-1), json!(1.0)], vec![json!(1.5), json!("1")]),
            (
                json!({"type": "number", "minimum": 0.5, "maximum": 2}),
                vec![json!(0.5), json!(2)],
                vec![json!(0.4), json!(2.1), json!(true)],
            ),
            (json!({"type": "boolean"}), vec![json!(true)], vec![json!("true"), json!(0), json!(null)]),
            (
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
                vec![json!([1]), json!([1, 2])],
                vec![json!([]), json!([1, 2, 3]), json!([1, "2"]), json!({"0": 1})],
            ),
            (json!({"type": "integer", "enum": [1, 2]}), vec![json!(1), json!(2.0)], vec![json!(3)]),
            (json!({"type": "object"}), vec![json!({}), json!({"x": 1})], vec![json!([]), json!(null)]),
        ] {
            for value in allowed {
                assert_eq!(check_property(&property, &value), Ok(()), "{property}: {value}");
            }
            for value in refused {
                assert!(check_property(&property, &value).is_err(), "{property}: {value}");
            }
        }
    }

    #[test]
    fn refusals_say_where_and_what_to_do() {
        let schema = json!({
            "type": "object",
            "properties": {
                "at": {
                    "type": "object",
                    "properties": { "tags": { "type": "array", "items": { "type": "string", "maxLength": 3 } } },
                    "required": ["tags"],
                    "additionalProperties": false,
                },
                "unit": { "type": "string", "enum": ["c", "k"] },
            },
            "required": ["at"],
        });
        for (input, path, reason) in [
            (json!({}), "at", "is required"),
            (json!({"at": {}}), "at.tags", "is required"),
            (json!({"at": {"tags": ["a", "long"]}}), "at.tags[1]", "must have at most 3 characters"),
            (json!({"at": {"tags": [], "x": 1}}), "at", "may have only these members: tags"),
            (json!({"at": {"tags": []}, "unit": "f"}), "unit", "must be one of \"c\", \"k\""),
            (json!({"at": 1}), "at", "must be an object"),
        ] {
            let expected = Err((path.to_owned(), reason.to_owned()));
            assert_eq!(check(schema.clone(), input.clone()), expected, "{input}");
        }
        assert_eq!(check(schema, json!({"at": {"tags": []}, "other": null})), Ok(()), "the root is open");
    }
}
