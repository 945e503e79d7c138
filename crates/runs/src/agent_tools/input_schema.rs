//! Schemas of a tool's arguments: a subset of JSON Schema 2020-12 that clients of all large models accept.
//!
//! | Type | Keywords |
//! | --- | --- |
//! | every | `type`, `title`, `description`, `default`, `enum` |
//! | `string` | `minLength`, `maxLength`, `format`: `date`, `date-time`, `email`, `uri`, `uuid` |
//! | `integer`, `number` | `minimum`, `maximum` |
//! | `boolean` | |
//! | `array` | `items`, `minItems`, `maxItems` |
//! | `object` | `properties`, `required`, `additionalProperties`: `false` |
//!
//! Keywords that change nothing are left out: `$schema`, `$id`, `$comment`, `examples` and other annotations, extensions
//! (`x-…`), the title, description and default of the whole schema, null in place of a keyword that is left out.
//!
//! Everything else is refused, `$ref` and combinations of schemas among it, so that a schema is a tree of bounded size and
//! means the same for every model. Formats are checked, as the specification allows (JSON Schema Validation, section 7.2.1).

mod format;
mod parse;
mod validate;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use format::Format;

/// Most bytes of a schema, as JSON.
pub const MAX_SCHEMA_BYTES: usize = 16 << 10;
/// Most properties of all objects of a schema together.
pub const MAX_PROPERTIES: usize = 100;
/// Most levels of objects and arrays within each other.
pub const MAX_DEPTH: usize = 5;
/// Most names in a `required`.
pub const MAX_REQUIRED: usize = 20;
/// Most values of an `enum`.
pub const MAX_CHOICES: usize = 100;

/// A schema of a tool's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSchema {
    /// Text of the schema, as it was given, without what changes nothing.
    json: Map<String, Value>,
    /// What it demands.
    root: ObjectSchema,
}

/// The refusal of a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema {path} {reason}")]
pub struct InvalidSchema {
    /// Path from the root of the schema, such as `properties.city.type`; empty for the root.
    pub path: String,
    /// What is wrong, as the rest of a sentence about the path.
    pub reason: String,
}

/// The refusal of arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the argument {path} {reason}")]
pub struct InvalidToolInput {
    /// Path from the arguments, such as `address.city` or `tags[2]`; empty for all of them.
    pub path: String,
    /// What is wrong, as the rest of a sentence about the path.
    pub reason: String,
}

/// What a schema demands of one value.
#[derive(Debug, Clone, PartialEq)]
struct Schema {
    kind: Kind,
    /// Values that are allowed; all of the kind if it is empty.
    choices: Vec<Value>,
}

/// Type of a value, with the keywords that belong to it.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text { length: Bounds<u64>, format: Option<Format> },
    Number { is_integer: bool, range: Bounds<f64> },
    Boolean,
    List { items: Box<Schema>, length: Bounds<u64> },
    Object(ObjectSchema),
}

/// What a schema demands of an object.
#[derive(Debug, Clone, PartialEq)]
struct ObjectSchema {
    properties: BTreeMap<String, Schema>,
    required: Vec<String>,
    /// True if it may have other properties.
    is_open: bool,
}

/// Bounds that both may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Bounds<T> {
    min: Option<T>,
    max: Option<T>,
}

impl<T: PartialOrd + Copy> Bounds<T> {
    fn contains(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

impl InputSchema {
    /// Returns the schema that allows every argument.
    #[must_use]
    pub fn any() -> Self {
        let json = json!({ "type": "object", "properties": {} });
        let root = ObjectSchema { properties: BTreeMap::new(), required: Vec::new(), is_open: true };
        let Value::Object(json) = json else { return Self { json: Map::new(), root } };
        Self { json, root }
    }

    /// Returns the schema as it was given, without what changes nothing.
    #[must_use]
    pub fn as_json(&self) -> &Map<String, Value> {
        &self.json
    }
}
