//! Rules of the policy of a table: who may do what to which rows, as a tree and as a sentence.
//!
//! A rule is JSON with a tree of conditions, or one English sentence; both have the same meaning.
//!
//! ```
//! use backend_data::Rule;
//!
//! let tree = r#"{"id":"own","audience":{"kind":"signed_in"},"actions":["read","update"],"columns":null,
//!     "where":{"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}}}"#;
//! let rule: Rule = serde_json::from_str(tree)?;
//! let sentence = "Signed-in people may read and update rows where owner is the signed-in person.";
//! assert_eq!(rule.to_sentence(), sentence);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod operand;
mod parse_sentence;
mod sentence;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{
    access::{Access, Scope},
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    objects::object_only,
    value::Value,
};

/// Maximum number of rules of a table.
pub const MAX_RULES: usize = 16;
/// Maximum length in characters of a text that a rule compares a column to.
pub const MAX_TEXT: usize = 200;
/// Maximum number of values of a list in a claim that a rule compares a column to; the others are ignored.
pub const MAX_CLAIM_LIST: usize = 1_000;

pub use operand::OperandFinding;
pub(crate) use operand::ResolvedOperand;

/// A rule of a table's policy: it allows callers some actions on some rows. What no rule allows is forbidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A lowercase name, 2–32 characters, unique in its table.
    pub id: String,
    /// The callers that it applies to.
    pub audience: Audience,
    /// The actions that it allows: one to four, each once.
    pub actions: Vec<Action>,
    /// The rows that it applies to.
    #[serde(rename = "where")]
    pub condition: Condition,
    /// The columns that it covers, each once; null for all.
    pub columns: Option<Vec<String>>,
    /// True if the rule was converted from an older form of the table's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    /// The rule as a sentence, at most 400 characters. Generated from the tree, and ignored in a request.
    #[serde(default)]
    pub sentence: String,
}

/// The callers that a rule applies to. Rules do not apply to the owner and to secret keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// An action that a rule allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Read rows.
    Read,
    /// Insert rows.
    Insert,
    /// Update rows.
    Update,
    /// Delete rows.
    Delete,
}

/// A condition that selects the rows that a rule applies to.
///
/// Conditions nest as an `or` of `and`s of the others; `all` stands alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// Every row.
    All,
    /// Rows whose column compares to a value. Null compares to nothing, not even to null.
    Cmp {
        /// The name of the column.
        column: String,
        /// The comparison.
        op: Comparison,
        /// The value that the column is compared to.
        value: Operand,
    },
    /// Rows whose column is one of 1–20 values.
    In {
        /// The name of the column.
        column: String,
        /// The values, each of the column's type.
        values: Vec<Scalar>,
    },
    /// Rows whose column is null, or those whose column is not.
    Null {
        /// The name of the column.
        column: String,
        /// True for rows whose column is null, false for the others.
        #[serde(rename = "isNull")]
        is_null: bool,
    },
    /// Rows that meet every one of 2–8 conditions.
    And {
        /// The conditions: comparisons, lists and null checks.
        of: Vec<Condition>,
    },
    /// Rows that meet one of 2–8 conditions.
    Or {
        /// The conditions: comparisons, lists, null checks and `and`s.
        of: Vec<Condition>,
    },
}

/// A comparison of a column to a value. Text compares by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Greater.
    Gt,
    /// Greater than or equal.
    Gte,
    /// Less.
    Lt,
    /// Less than or equal.
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

/// A value that a column is compared to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "k", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operand {
    /// A fixed value.
    Lit {
        /// The value, of the column's type.
        v: Scalar,
    },
    /// The signed-in person: the subject of their token. Compares to text columns.
    Me,
    /// A claim of the signed-in person's token. A claim that is missing, or that does not fit the column, equals
    /// nothing. A text of digits fits an integer column. A list equals what one of its values equals, and compares in no
    /// other way.
    Claim {
        /// The name of the claim: lowercase, 1–32 characters.
        name: String,
    },
}

/// A fixed value in a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// Text of at most 200 characters.
    Text(String),
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(Number),
}

impl Scalar {
    /// Converts the value to the type of a column.
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

impl Action {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// Returns the scope that a secret key needs for the action.
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
    use crate::access::Person;

    #[test]
    fn an_audience_includes_its_callers_and_nobody_else() {
        let person = Access::Person(Person { roles: vec!["editor".into()], ..Person::default() });
        let role = |role: &str| Audience::Role { role: role.into() };
        assert!(Audience::Anyone.includes(&Access::Visitor) && Audience::Anyone.includes(&person));
        assert!(Audience::Visitors.includes(&Access::Visitor) && !Audience::Visitors.includes(&person));
        assert!(Audience::SignedIn.includes(&person) && !Audience::SignedIn.includes(&Access::Visitor));
        assert!(role("editor").includes(&person) && !role("admin").includes(&person));
        assert!(!Audience::Anyone.includes(&Access::service([])));
    }
}
