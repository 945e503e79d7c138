//! Row rules: who may do what to which rows of a table, as a tree and as a sentence.

mod parse_sentence;
mod sentence;
mod validate;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{
    access::{Access, Person, Scope},
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    objects::object_only,
    value::Value,
};

pub(crate) use validate::validate_rules;

/// The most rules of a table.
pub const MAX_RULES: usize = 16;
/// The most characters of a text that a rule compares with.
pub(crate) const MAX_TEXT: usize = 200;

/// One thing callers may do. Rules add up; what no rule allows is forbidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A lowercase name, 2–32 characters, unique in its table.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[a-z][a-z0-9_-]{1,31}$", example = "readers"))]
    pub id: String,
    /// Whom it speaks of.
    pub audience: Audience,
    /// What they may do: one to four, each once.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 4))]
    pub actions: Vec<Action>,
    /// To which rows.
    #[serde(rename = "where")]
    pub condition: Condition,
    /// To which columns; all where nothing is said.
    #[cfg_attr(feature = "openapi", schema(required, min_items = 1, value_type = Option<Vec<crate::ColumnName>>))]
    pub columns: Option<Vec<String>>,
    /// Whether it came from an older form of the table's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    /// The rule in plain words. Made from the tree; what a request says here is not read.
    #[serde(default)]
    pub sentence: String,
}

/// Whom a rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Audience {
    /// Visitors and signed-in people.
    Anyone,
    /// Callers who are not signed in.
    Visitors,
    /// Signed-in people.
    SignedIn,
    /// Signed-in people with a role.
    Role {
        /// A lowercase name, 1–31 characters.
        #[cfg_attr(feature = "openapi", schema(pattern = "^[a-z][a-z0-9_-]{0,30}$", example = "editor"))]
        role: String,
    },
}

object_only!(Audience, Condition, Operand);

impl Audience {
    pub(crate) fn includes(&self, access: &Access) -> bool {
        match (self, access) {
            (Self::Anyone, Access::Visitor | Access::Person(_))
            | (Self::Visitors, Access::Visitor)
            | (Self::SignedIn, Access::Person(_)) => true,
            (Self::Role { role }, Access::Person(person)) => person.roles.iter().any(|held| held == role),
            _ => false,
        }
    }
}

/// What a rule allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// See rows.
    Read,
    /// Add rows.
    Insert,
    /// Change rows.
    Update,
    /// Delete rows.
    Delete,
}

/// Which rows a rule speaks of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(remote = "Self", tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// Every row.
    All,
    /// Rows whose column compares to a value. Null compares to nothing.
    Cmp {
        /// The column.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::ColumnName))]
        column: String,
        /// How it compares.
        op: Comparison,
        /// To what.
        value: Operand,
    },
    /// Rows whose column is one of 1–20 values.
    In {
        /// The column.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::ColumnName))]
        column: String,
        /// The values.
        #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 20))]
        values: Vec<Scalar>,
    },
    /// Rows whose column is null, or is not.
    Null {
        /// The column.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::ColumnName))]
        column: String,
        /// Whether it must be null.
        #[serde(rename = "isNull")]
        is_null: bool,
    },
    /// Rows that meet every one of 2–8 conditions.
    And {
        /// Comparisons, lists and null checks.
        #[cfg_attr(feature = "openapi", schema(no_recursion, min_items = 2, max_items = 8))]
        of: Vec<Condition>,
    },
    /// Rows that meet one of 2–8 conditions.
    Or {
        /// Comparisons, lists, null checks and `and`s.
        #[cfg_attr(feature = "openapi", schema(no_recursion, min_items = 2, max_items = 8))]
        of: Vec<Condition>,
    },
}

/// How a column compares to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
}

impl Comparison {
    pub(crate) fn sql_operator(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Neq => "<>",
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

/// What a column is compared to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(remote = "Self", tag = "k", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operand {
    /// A fixed value.
    Lit {
        /// The value.
        v: Scalar,
    },
    /// The signed-in person.
    Me,
    /// A claim of the person's token.
    Claim {
        /// Its name, lowercase, 1–32 characters.
        #[cfg_attr(feature = "openapi", schema(pattern = "^[a-z][a-z0-9_-]{0,31}$", example = "team"))]
        name: String,
    },
}

/// A value in a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Scalar {
    /// Text of at most 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::RuleText))]
    Text(String),
    /// True or false.
    Boolean(bool),
    /// A number.
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    Number(Number),
}

impl Scalar {
    /// The value as one of a column.
    pub(crate) fn to_value(&self, column: &Column) -> Result<Value> {
        if column.kind == ColumnType::Json {
            let message = format!("a rule cannot compare the json column {}", Quoted(&column.name));
            return Err(Error::invalid_request(message));
        }
        match self {
            Self::Text(text) if text.chars().count() > MAX_TEXT => Err(Error::invalid_request(format!(
                "a text value in a rule has at most {MAX_TEXT} characters"
            ))),
            Self::Text(text) if matches!(column.kind, ColumnType::Text | ColumnType::Timestamp) => {
                Value::from_text(column, text)
            }
            Self::Text(_) => {
                let message = format!("column {} does not hold text", Quoted(&column.name));
                Err(Error::invalid_value(message))
            }
            Self::Boolean(value) => Value::from_json(column, if *value { "true" } else { "false" }),
            Self::Number(number) => Value::from_json(column, &number.to_string()),
        }
    }
}

impl Operand {
    /// What it stands for when this caller asks; what a caller does not have is null, which equals nothing.
    pub(crate) fn resolve(&self, column: &Column, access: &Access) -> Result<Value> {
        let null = Value::Null(column.kind);
        let person = match access {
            Access::Person(person) => Some(person),
            _ => None,
        };
        match self {
            Self::Lit { v } => v.to_value(column),
            Self::Me => Ok(match person {
                Some(Person { subject, .. }) if !subject.is_empty() => {
                    Value::from_text(column, subject).unwrap_or(null)
                }
                _ => null,
            }),
            Self::Claim { name } => {
                let claim = person.and_then(|person| person.claims.get(name));
                let scalar = claim.and_then(|claim| Scalar::deserialize(claim).ok());
                // A claim of another type than the column is like none at all.
                Ok(scalar.and_then(|scalar| scalar.to_value(column).ok()).unwrap_or(null))
            }
        }
    }
}

impl Action {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// What a secret key needs for it.
    pub(crate) fn required_scope(self) -> Scope {
        if self == Self::Read { Scope::RowsRead } else { Scope::RowsWrite }
    }
}

impl Rule {
    pub(crate) fn applies_to(&self, access: &Access, action: Action) -> bool {
        self.actions.contains(&action) && self.audience.includes(access)
    }

    pub(crate) fn covers_column(&self, column: &str) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.iter().any(|name| name == column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audiences_are_exact() {
        let person = Access::Person(Person { roles: vec!["editor".into()], ..Person::default() });
        let role = |role: &str| Audience::Role { role: role.into() };
        assert!(Audience::Anyone.includes(&Access::Visitor) && Audience::Anyone.includes(&person));
        assert!(Audience::Visitors.includes(&Access::Visitor) && !Audience::Visitors.includes(&person));
        assert!(Audience::SignedIn.includes(&person) && !Audience::SignedIn.includes(&Access::Visitor));
        assert!(role("editor").includes(&person) && !role("admin").includes(&person));
        assert!(!Audience::Anyone.includes(&Access::service([])));
    }
}
