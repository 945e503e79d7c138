//! Typed SQL expressions of columns, parts of documents, casts and comparisons.

use super::{Params, postgres_type::postgres_type, quote_ident};
use crate::{
    catalog::{Column, ColumnType, Table},
    error::{Error, Quoted, Result},
    functions::{JsonPath, MAX_CAST, TIME},
    query::{Key, Path},
    rule::Comparison,
    store::Dialect,
    value::Value,
};

/// An expression with its type. Its column has the type, and the name that errors use.
#[derive(Clone)]
pub(super) struct Expr {
    pub(super) text: String,
    pub(super) column: Column,
}

/// Compiles a path.
pub(super) fn path_expr(table: &Table, path: &Path, params: &mut Params) -> Result<Expr> {
    let column = table.get_column(&path.column)?;
    path_expr_on(column, quote_ident(&column.name), path, params)
}

/// Compiles a path with `text` as the expression of its column.
pub(super) fn path_expr_on(column: &Column, text: String, path: &Path, params: &mut Params) -> Result<Expr> {
    let Some(last) = path.steps.last() else { return Ok(Expr { text, column: column.clone() }) };
    if column.kind != ColumnType::Json {
        return Err(Error::invalid_value(format!(
            "{} is a path into a document, but column {} is {}",
            Quoted(&path.to_string()),
            Quoted(&column.name),
            column.kind.as_str()
        )));
    }
    let keys = path.steps.iter().map(|step| &step.key);
    for key in keys.clone() {
        if let Key::Name(name) = key
            && name.contains('\0')
        {
            return Err(Error::invalid_value("the name of a member may not contain the character U+0000"));
        }
    }
    let kind = if last.as_text { ColumnType::Text } else { ColumnType::Json };
    let text = match params.dialect {
        Dialect::Sqlite => {
            let steps = params.bind(Value::Text(JsonPath::encode(keys)));
            let function = if last.as_text { "qala_json_text" } else { "qala_json" };
            format!("{function}({text}, {steps})")
        }
        Dialect::Postgres => {
            let fragment = path.steps.iter().fold(text, |text, step| {
                let arrow = if step.as_text { "->>" } else { "->" };
                match &step.key {
                    Key::Name(name) => format!("({text} {arrow} {})", params.bind(Value::Text(name.clone()))),
                    // A number of at most 32 bits, which cannot be anything else, needs no parameter.
                    Key::Index(index) => format!("({text} {arrow} ({index}))"),
                }
            });
            if last.as_text { format!("({fragment} COLLATE \"C\")") } else { fragment }
        }
    };
    let column = Column { name: path.to_string(), kind, nullable: true, system: false, default: None };
    Ok(Expr { text, column })
}

impl Expr {
    /// Compiles a comparison to another expression of the same type.
    pub(super) fn comparison_sql(&self, op: Comparison, other: &str, dialect: Dialect) -> String {
        let ordered = !matches!(op, Comparison::Eq | Comparison::Neq);
        let (left, right) = if ordered && self.column.kind == ColumnType::Json {
            match dialect {
                Dialect::Sqlite => {
                    (format!("qala_json_order({})", self.text), format!("qala_json_order({other})"))
                }
                Dialect::Postgres => {
                    let row = |text| format!("({})", json_order_terms(text).join(", "));
                    (row(&self.text), row(other))
                }
            }
        } else {
            (self.text.clone(), other.to_owned())
        };
        format!("{left} {} {right}", op.sql_operator())
    }

    /// Returns the terms of an `ORDER BY` this expression.
    pub(super) fn order_terms(&self, dialect: Dialect) -> Vec<String> {
        match (self.column.kind, dialect) {
            (ColumnType::Json, Dialect::Sqlite) => vec![format!("qala_json_order({})", self.text)],
            (ColumnType::Json, Dialect::Postgres) => json_order_terms(&self.text).to_vec(),
            _ => vec![self.text.clone()],
        }
    }

    /// Compiles a cast to the type of this name.
    pub(super) fn cast(self, name: &str, dialect: Dialect) -> Result<Self> {
        use ColumnType::{Boolean, Integer, Json, Real, Text, Timestamp};
        let kind = match name.to_ascii_lowercase().as_str() {
            "text" | "varchar" | "character varying" => Text,
            "integer" | "int" | "int4" | "int8" | "bigint" => Integer,
            "real" | "float" | "float8" | "double precision" => Real,
            "boolean" | "bool" => Boolean,
            "timestamp" | "timestamptz" => Timestamp,
            "json" | "jsonb" => Json,
            _ => return Err(Error::unsupported(format!("a cast to {}", Quoted(name)))),
        };
        let (Self { text, column }, from) = (&self, self.column.kind);
        let known = matches!(
            (from, kind),
            (Text, Integer | Real | Boolean | Timestamp | Json)
                | (Integer, Text | Real | Boolean | Json)
                | (Real, Text | Integer | Json)
                | (Boolean, Text | Integer | Json)
                | (Timestamp, Text | Json)
                | (Json, Text | Integer | Real | Boolean)
        );
        if from == kind {
            return Ok(self);
        }
        if !known {
            let message =
                format!("a cast of {} from {} to {}", Quoted(&column.name), from.as_str(), kind.as_str());
            return Err(Error::unsupported(message));
        }
        let text = match dialect {
            Dialect::Sqlite => format!("qala_cast({text}, '{}', '{}')", from.as_str(), kind.as_str()),
            Dialect::Postgres => {
                let time =
                    || format!("to_char({text} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')");
                let native = postgres_type(kind);
                match (from, kind) {
                    (Timestamp, Text) => format!("({} COLLATE \"C\")", time()),
                    (Timestamp, Json) => format!("to_jsonb({})", time()),
                    // The empty string is not JSON, so text that is too long is an error.
                    (Text, Json) => format!(
                        "(CASE WHEN octet_length({text}) > {MAX_CAST} THEN '' ELSE {text} END)::jsonb"
                    ),
                    (Text, Timestamp) => postgres_timestamp(text),
                    (_, Json) => format!("to_jsonb({text})"),
                    (_, Text) => format!("(({text})::text COLLATE \"C\")"),
                    (Integer, Boolean) => format!("({text} <> 0)"),
                    (Boolean, Integer) => format!("({text})::int::bigint"),
                    // PostgreSQL 15 cannot cast the document `null` to a number.
                    (Json, _) => {
                        format!("(CASE WHEN jsonb_typeof({text}) <> 'null' THEN ({text})::{native} END)")
                    }
                    _ => format!("({text})::{native}"),
                }
            }
        };
        Ok(Self { text, column: Column { kind, nullable: true, ..column.clone() } })
    }
}

/// Compiles a cast of text to a timestamp in PostgreSQL. A plain cast would also accept words, and read times without
/// an offset in the time zone of the session.
fn postgres_timestamp(text: &str) -> String {
    let zoned = format!("{text} ~ '(Z|[+-][0-9]{{2}}:[0-9]{{2}})$'");
    let end = format!("CASE WHEN {zoned} THEN '' WHEN length({text}) = 10 THEN ' 00:00:00Z' ELSE 'Z' END");
    // Any other text must be an error, which the prefix ensures.
    format!("(CASE WHEN {text} ~ '{TIME}' THEN {text} || {end} ELSE 'no time: ' || {text} END)::timestamptz")
}

/// Returns the terms that order documents in PostgreSQL: the type, the value of a number, the text of anything else.
/// PostgreSQL's own order of `jsonb` depends on the collation of the database.
fn json_order_terms(text: &str) -> [String; 3] {
    let kind = format!("jsonb_typeof({text})");
    [
        format!(
            "CASE {kind} WHEN 'null' THEN 0 WHEN 'string' THEN 1 WHEN 'number' THEN 2 WHEN 'boolean' THEN 3 \
             WHEN 'array' THEN 4 WHEN 'object' THEN 5 END"
        ),
        format!("CASE WHEN {kind} = 'number' THEN ({text})::numeric ELSE 0 END"),
        format!("CASE WHEN {kind} = 'number' THEN '' ELSE coalesce({text} #>> '{{}}', '') END COLLATE \"C\""),
    ]
}
