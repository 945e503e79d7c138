//! Reading a schema.

mod annotations;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Bounds, Format, InputSchema, InvalidSchema, Kind, MAX_CHOICES, MAX_DEPTH, MAX_PROPERTIES, MAX_REQUIRED,
    MAX_SCHEMA_BYTES, ObjectSchema, Schema,
};

/// Most characters of a property's name, as clients of models accept them.
const MAX_NAME_CHARS: usize = 64;
/// Most characters of a title or description of a property.
const MAX_TEXT_CHARS: usize = 1000;

impl InputSchema {
    /// Parses a schema.
    ///
    /// # Errors
    /// [`InvalidSchema`] with the path of the first part that is no part of the subset, or larger than it may be.
    pub fn parse(json: Value) -> Result<Self, InvalidSchema> {
        let root = Path::root();
        let Value::Object(json) = json else { return Err(root.error("must be an object")) };
        if serde_json::to_string(&json).map_or(usize::MAX, |text| text.len()) > MAX_SCHEMA_BYTES {
            return Err(root.error(format!("must have at most {} KiB of JSON", MAX_SCHEMA_BYTES >> 10)));
        }
        let json = annotations::without_annotations(&json, root)?;
        let mut reader = Reader { properties: 0 };
        let mut keywords = Keywords::new(&json, root);
        if keywords.take("type").and_then(Value::as_str) != Some("object") {
            return Err(keywords.path.child("type").error("must be \"object\""));
        }
        let object = reader.object(&mut keywords, 1)?;
        if !json.contains_key("properties") {
            return Err(keywords.path.child("properties").error("is required; it may be empty"));
        }
        keywords.finish()?;
        Ok(Self { root: object, json })
    }
}

/// Place in a schema, as a list from the innermost to the root.
#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    name: &'p str,
}

impl<'p> Path<'p> {
    fn root() -> Self {
        Self { parent: None, name: "" }
    }

    fn child(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), name }
    }

    fn error(&self, reason: impl Into<String>) -> InvalidSchema {
        let mut names = Vec::new();
        let mut next = Some(self);
        while let Some(path) = next {
            names.push(path.name);
            next = path.parent;
        }
        names.pop();
        names.reverse();
        InvalidSchema { path: names.join("."), reason: reason.into() }
    }
}

/// The keywords of one schema that nobody has read yet.
struct Keywords<'s> {
    left: BTreeMap<&'s str, &'s Value>,
    path: Path<'s>,
}

impl<'s> Keywords<'s> {
    fn new(json: &'s Map<String, Value>, path: Path<'s>) -> Self {
        Self { left: json.iter().map(|(name, value)| (name.as_str(), value)).collect(), path }
    }

    fn take(&mut self, name: &str) -> Option<&'s Value> {
        self.left.remove(name)
    }

    fn error(&self, name: &str, reason: impl Into<String>) -> InvalidSchema {
        self.path.child(name).error(reason)
    }

    /// Checks a text that explains a property.
    fn check_text(&mut self, name: &str) -> Result<(), InvalidSchema> {
        let Some(value) = self.take(name) else { return Ok(()) };
        let is_text = value.as_str().is_some_and(|text| text.chars().count() <= MAX_TEXT_CHARS);
        let reason = || format!("must be a text of at most {MAX_TEXT_CHARS} characters");
        if is_text { Ok(()) } else { Err(self.error(name, reason())) }
    }

    fn count(&mut self, name: &str) -> Result<Option<u64>, InvalidSchema> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| self.error(name, "must be a whole number, 0 or more"))
    }

    fn counts(&mut self, min: &str, max: &str) -> Result<Bounds<u64>, InvalidSchema> {
        let bounds = Bounds { min: self.count(min)?, max: self.count(max)? };
        self.check_order(bounds, (min, max))
    }

    fn number(&mut self, name: &str) -> Result<Option<f64>, InvalidSchema> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| self.error(name, "must be a number"))
    }

    fn check_order<T: PartialOrd>(
        &self,
        bounds: Bounds<T>,
        (min, max): (&str, &str),
    ) -> Result<Bounds<T>, InvalidSchema> {
        match (&bounds.min, &bounds.max) {
            (Some(lower), Some(upper)) if lower > upper => {
                Err(self.error(max, format!("must not be less than {min}")))
            }
            _ => Ok(bounds),
        }
    }

    /// Refuses the keywords that nobody has read.
    fn finish(self) -> Result<(), InvalidSchema> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        Err(self.error(name, unsupported(name)))
    }
}

/// Returns why a keyword is refused, and what to write instead.
fn unsupported(name: &str) -> &'static str {
    match name {
        "$ref" | "$dynamicRef" | "$recursiveRef" | "$defs" | "definitions" => {
            "is not supported here: write each schema where it is used"
        }
        "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" => {
            "is not supported here: give each argument one type"
        }
        "nullable" => "is not supported here: leave the argument out of required instead",
        "const" => "is not supported here: use enum with one value",
        "exclusiveMinimum" | "exclusiveMaximum" => "is not supported here: use minimum and maximum",
        _ => "is not supported here",
    }
}

/// Reads schemas within each other, and counts their properties.
struct Reader {
    properties: usize,
}

impl Reader {
    fn schema(&mut self, json: &Value, path: Path<'_>, depth: usize) -> Result<Schema, InvalidSchema> {
        let Value::Object(json) = json else { return Err(path.error("must be a schema: an object")) };
        let mut keywords = Keywords::new(json, path);
        keywords.check_text("title")?;
        keywords.check_text("description")?;
        let kind = self.kind(&mut keywords, depth)?;
        let mut schema = Schema { kind, choices: Vec::new() };
        schema.choices = choices(&mut keywords, &schema)?;
        if let Some(default) = keywords.take("default") {
            let check = schema.check(default, "");
            check.map_err(|_| keywords.error("default", "must be allowed by the schema itself"))?;
        }
        keywords.finish()?;
        Ok(schema)
    }

    fn kind(&mut self, keywords: &mut Keywords<'_>, depth: usize) -> Result<Kind, InvalidSchema> {
        let known = "must be one of string, integer, number, boolean, array, object";
        let kind = keywords.take("type").and_then(Value::as_str);
        Ok(match kind {
            Some("string") => {
                Kind::Text { length: keywords.counts("minLength", "maxLength")?, format: format(keywords)? }
            }
            Some(name @ ("integer" | "number")) => {
                let (min, max) = ("minimum", "maximum");
                let range = Bounds { min: keywords.number(min)?, max: keywords.number(max)? };
                Kind::Number {
                    is_integer: name == "integer",
                    range: keywords.check_order(range, (min, max))?,
                }
            }
            Some("boolean") => Kind::Boolean,
            Some("array") => {
                let depth = deeper(keywords, depth)?;
                let length = keywords.counts("minItems", "maxItems")?;
                let items = keywords.take("items");
                let items = items.ok_or_else(|| keywords.error("items", "is required for an array"))?;
                let items = self.schema(items, keywords.path.child("items"), depth)?;
                Kind::List { items: Box::new(items), length }
            }
            Some("object") => {
                let depth = deeper(keywords, depth)?;
                Kind::Object(self.object(keywords, depth)?)
            }
            _ => return Err(keywords.error("type", known)),
        })
    }

    fn object(&mut self, keywords: &mut Keywords<'_>, depth: usize) -> Result<ObjectSchema, InvalidSchema> {
        let mut properties = BTreeMap::new();
        if let Some(given) = keywords.take("properties") {
            let path = keywords.path.child("properties");
            let given = given.as_object().ok_or_else(|| path.error("must be an object"))?;
            self.properties = self.properties.saturating_add(given.len());
            if self.properties > MAX_PROPERTIES {
                return Err(
                    path.error(format!("must have at most {MAX_PROPERTIES} properties in all objects"))
                );
            }
            for (name, schema) in given {
                check_name(name).map_err(|reason| path.error(reason))?;
                let schema = self.schema(schema, path.child(name), depth)?;
                properties.insert(name.clone(), schema);
            }
        }
        let required = required(keywords, &properties)?;
        let is_open = match keywords.take("additionalProperties") {
            None => true,
            Some(Value::Bool(false)) => false,
            Some(_) => return Err(keywords.error("additionalProperties", "must be true or false")),
        };
        Ok(ObjectSchema { properties, required, is_open })
    }
}

fn deeper(keywords: &Keywords<'_>, depth: usize) -> Result<usize, InvalidSchema> {
    if depth >= MAX_DEPTH {
        return Err(keywords.path.error(format!("is deeper than {MAX_DEPTH} levels")));
    }
    Ok(depth + 1)
}

fn check_name(name: &str) -> Result<(), String> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if (1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_known) {
        return Ok(());
    }
    Err(format!("must have names of 1 to {MAX_NAME_CHARS} ASCII letters, digits, `_`, `.` and `-`"))
}

fn required(
    keywords: &mut Keywords<'_>,
    properties: &BTreeMap<String, Schema>,
) -> Result<Vec<String>, InvalidSchema> {
    let Some(given) = keywords.take("required") else { return Ok(Vec::new()) };
    let reason = "must be a list of different names of `properties`";
    let names = given.as_array().ok_or_else(|| keywords.error("required", reason))?;
    if names.len() > MAX_REQUIRED {
        return Err(keywords.error("required", format!("must have at most {MAX_REQUIRED} names")));
    }
    let mut required: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let known = name.as_str().filter(|name| properties.contains_key(*name));
        let known = known.filter(|name| !required.iter().any(|taken| taken == name));
        required.push(known.ok_or_else(|| keywords.error("required", reason))?.to_owned());
    }
    Ok(required)
}

fn choices(keywords: &mut Keywords<'_>, schema: &Schema) -> Result<Vec<Value>, InvalidSchema> {
    let Some(given) = keywords.take("enum") else { return Ok(Vec::new()) };
    let values = given.as_array().filter(|values| (1..=MAX_CHOICES).contains(&values.len()));
    let reason = || format!("must be a list of 1 to {MAX_CHOICES} values");
    let values = values.ok_or_else(|| keywords.error("enum", reason()))?;
    for value in values {
        let check = schema.check(value, "");
        check.map_err(|_| keywords.error("enum", "must have only values that the other keywords allow"))?;
    }
    Ok(values.clone())
}

fn format(keywords: &mut Keywords<'_>) -> Result<Option<Format>, InvalidSchema> {
    let Some(given) = keywords.take("format") else { return Ok(None) };
    let format = given.as_str().and_then(|name| name.parse().ok());
    let reason = "must be one of date, date-time, email, uri, uuid";
    format.map(Some).ok_or_else(|| keywords.error("format", reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(schema: &Value) -> (String, String) {
        let error = InputSchema::parse(schema.clone()).expect_err(&schema.to_string());
        (error.path, error.reason)
    }

    fn of(property: &Value) -> Value {
        json!({ "type": "object", "properties": { "p": property } })
    }

    #[test]
    fn a_schema_of_the_subset_is_kept_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "title": "City", "description": "Where.", "minLength": 1, "maxLength": 60 },
                "when": { "type": "string", "format": "date-time" },
                "unit": { "type": "string", "enum": ["celsius", "kelvin"], "default": "celsius" },
                "days": { "type": "integer", "minimum": 1, "maximum": 14, "default": 3 },
                "share": { "type": "number", "minimum": 0.5 },
                "exact": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 5 },
                "at": {
                    "type": "object",
                    "properties": { "lat": { "type": "number" }, "lon": { "type": "number" } },
                    "required": ["lat", "lon"],
                    "additionalProperties": false,
                },
            },
            "required": ["city"],
            "additionalProperties": false,
        });
        let parsed = InputSchema::parse(schema.clone()).unwrap();
        assert_eq!(Value::Object(parsed.as_json().clone()), schema);
        assert_eq!(
            InputSchema::parse(Value::Object(InputSchema::any().as_json().clone())).unwrap(),
            InputSchema::any()
        );
    }

    #[test]
    fn what_is_outside_of_the_subset_is_refused_with_its_path() {
        for (schema, path) in [
            (json!([]), ""),
            (json!({}), "type"),
            (json!({ "type": "string" }), "type"),
            (json!({ "type": "object" }), "properties"),
            (json!({ "type": "object", "properties": [] }), "properties"),
            (json!({ "type": "object", "properties": {}, "title": 1 }), "title"),
            (json!({ "type": "object", "properties": {}, "minProperties": 1 }), "minProperties"),
            (json!({ "type": "object", "properties": {}, "$defs": { "a": {} } }), "$defs"),
            (json!({ "type": "object", "properties": {}, "$schema": 7 }), "$schema"),
            (json!({ "type": "object", "properties": null }), "properties"),
            (json!({ "type": null, "properties": {} }), "type"),
            (json!({ "type": "object", "properties": {}, "required": true }), "required"),
            (json!({ "type": "object", "properties": {}, "required": { "p": true } }), "required"),
            (of(&json!(null)), "properties.p"),
            (of(&json!({ "type": "string", "$comment": [] })), "properties.p.$comment"),
            (of(&json!({ "type": "string", "examples": "a" })), "properties.p.examples"),
            (of(&json!({ "type": "string", "deprecated": "no" })), "properties.p.deprecated"),
            (of(&json!({ "type": "string", "nullable": true })), "properties.p.nullable"),
            (of(&json!({ "type": "string", "const": "a" })), "properties.p.const"),
            (of(&json!({ "type": "integer", "exclusiveMinimum": 0 })), "properties.p.exclusiveMinimum"),
            (of(&json!({ "type": "integer", "multipleOf": 2 })), "properties.p.multipleOf"),
            (of(&json!({ "type": "integer", "format": "date" })), "properties.p.format"),
            (
                of(&json!({ "type": "array", "items": { "type": "x" }, "uniqueItems": true })),
                "properties.p.items.type",
            ),
            (
                of(&json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true })),
                "properties.p.uniqueItems",
            ),
            (
                json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "string" } }),
                "additionalProperties",
            ),
            (json!({ "type": "object", "properties": {}, "required": ["x"] }), "required"),
            (json!({ "type": "object", "properties": { "Город": { "type": "string" } } }), "properties"),
            (json!({ "type": "object", "properties": { "": { "type": "string" } } }), "properties"),
            (of(&json!(true)), "properties.p"),
            (of(&json!({ "$ref": "#" })), "properties.p.type"),
            (of(&json!({ "type": "object", "$ref": "#" })), "properties.p.$ref"),
            (of(&json!({ "type": "string", "anyOf": [] })), "properties.p.anyOf"),
            (of(&json!({ "type": "string", "pattern": "(a+)+$" })), "properties.p.pattern"),
            (of(&json!({ "type": ["string", "null"] })), "properties.p.type"),
            (of(&json!({ "type": "null" })), "properties.p.type"),
            (of(&json!({ "type": "string", "minimum": 1 })), "properties.p.minimum"),
            (of(&json!({ "type": "string", "minLength": -1 })), "properties.p.minLength"),
            (of(&json!({ "type": "string", "minLength": 2, "maxLength": 1 })), "properties.p.maxLength"),
            (of(&json!({ "type": "string", "format": "regex" })), "properties.p.format"),
            (of(&json!({ "type": "string", "description": 1 })), "properties.p.description"),
            (of(&json!({ "type": "integer", "minimum": "1" })), "properties.p.minimum"),
            (of(&json!({ "type": "integer", "minimum": 2, "maximum": 1.5 })), "properties.p.maximum"),
            (of(&json!({ "type": "integer", "enum": ["a"] })), "properties.p.enum"),
            (of(&json!({ "type": "integer", "enum": [] })), "properties.p.enum"),
            (of(&json!({ "type": "integer", "maximum": 3, "default": 4 })), "properties.p.default"),
            (of(&json!({ "type": "array" })), "properties.p.items"),
            (of(&json!({ "type": "array", "items": [] })), "properties.p.items"),
            (of(&json!({ "type": "array", "items": { "type": "x" } })), "properties.p.items.type"),
            (
                of(&json!({ "type": "object", "properties": {}, "required": ["a", "a"] })),
                "properties.p.required",
            ),
        ] {
            assert_eq!(refusal(&schema).0, path, "{schema}");
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let properties = |count: usize| {
            let all = (0..count).map(|number| (format!("p{number}"), json!({ "type": "boolean" })));
            json!({ "type": "object", "properties": Map::from_iter(all) })
        };
        InputSchema::parse(properties(MAX_PROPERTIES)).unwrap();
        assert_eq!(refusal(&properties(MAX_PROPERTIES + 1)).0, "properties");
        assert_eq!(
            refusal(&properties(10_000)),
            (String::new(), "must have at most 16 KiB of JSON".to_owned())
        );
        let nested = |inner: &Value| of(&json!({ "type": "object", "properties": { "q": inner } }));
        let split = json!({ "type": "object", "properties": properties(MAX_PROPERTIES - 1)["properties"] });
        assert_eq!(refusal(&nested(&split)).0, "properties.p.properties.q.properties", "over all objects");

        let arrays = |depth: usize| {
            (0..depth)
                .fold(json!({ "type": "boolean" }), |items, _| json!({ "type": "array", "items": items }))
        };
        InputSchema::parse(of(&arrays(MAX_DEPTH - 1))).unwrap();
        assert!(refusal(&of(&arrays(MAX_DEPTH))).1.contains("levels"));
        let choices = |count: usize| of(&json!({ "type": "integer", "enum": Vec::from_iter(0..count) }));
        InputSchema::parse(choices(MAX_CHOICES)).unwrap();
        assert_eq!(refusal(&choices(MAX_CHOICES + 1)).0, "properties.p.enum");
        let mut all = properties(MAX_REQUIRED + 1);
        all["required"] = Vec::from_iter((0..=MAX_REQUIRED).map(|number| format!("p{number}"))).into();
        assert_eq!(refusal(&all).0, "required");
    }
}
