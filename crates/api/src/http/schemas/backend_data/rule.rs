//! Rules of a table's policy.

use serde::Deserialize;
use serde_json::Number;
use utoipa::ToSchema;

use super::{Action, ColumnName, Comparison, names::RuleText};

/// A rule of a table's policy: it allows callers some actions on some rows. What no rule allows is forbidden.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// A lowercase name, 2–32 characters, unique in its table.
    #[schema(pattern = "^[a-z][a-z0-9_-]{1,31}$", example = "readers")]
    id: String,
    /// The callers that it applies to.
    audience: Audience,
    /// The actions that it allows: one to four, each once.
    #[schema(min_items = 1, max_items = 4)]
    actions: Vec<Action>,
    /// The rows that it applies to.
    #[serde(rename = "where")]
    condition: Condition,
    /// The columns that it covers, each once; null for all.
    #[schema(required, min_items = 1, value_type = Option<Vec<ColumnName>>)]
    columns: Option<Vec<String>>,
    /// True if the rule was converted from an older form of the table's settings.
    #[serde(default)]
    migrated: Option<bool>,
    /// The rule as a sentence, at most 400 characters. Generated from the tree, and ignored in a request.
    #[serde(default)]
    sentence: String,
}

/// The callers that a rule applies to. Rules do not apply to the owner and to secret keys.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Audience {
    /// Visitors and signed-in people.
    Anyone,
    /// Callers who are not signed in.
    Visitors,
    /// Signed-in people.
    SignedIn,
    /// Signed-in people with a role.
    Role {
        /// A lowercase name, 1–31 characters.
        #[schema(pattern = "^[a-z][a-z0-9_-]{0,30}$", example = "editor")]
        role: String,
    },
}

/// A condition that selects the rows that a rule applies to.
///
/// Conditions nest as an `or` of `and`s of the others; `all` stands alone.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Condition {
    /// Every row.
    All,
    /// Rows whose column compares to a value. Null compares to nothing, not even to null.
    Cmp {
        /// The name of the column.
        #[schema(value_type = ColumnName)]
        column: String,
        /// The comparison.
        op: Comparison,
        /// The value that the column is compared to.
        value: Operand,
    },
    /// Rows whose column is one of 1–20 values.
    In {
        /// The name of the column.
        #[schema(value_type = ColumnName)]
        column: String,
        /// The values, each of the column's type.
        #[schema(min_items = 1, max_items = 20)]
        values: Vec<Scalar>,
    },
    /// Rows whose column is null, or those whose column is not.
    Null {
        /// The name of the column.
        #[schema(value_type = ColumnName)]
        column: String,
        /// True for rows whose column is null, false for the others.
        #[serde(rename = "isNull")]
        is_null: bool,
    },
    /// Rows that meet every one of 2–8 conditions.
    And {
        /// The conditions: comparisons, lists and null checks.
        #[schema(no_recursion, min_items = 2, max_items = 8)]
        of: Vec<Condition>,
    },
    /// Rows that meet one of 2–8 conditions.
    Or {
        /// The conditions: comparisons, lists, null checks and `and`s.
        #[schema(no_recursion, min_items = 2, max_items = 8)]
        of: Vec<Condition>,
    },
}

/// A value that a column is compared to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "k", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Operand {
    /// A fixed value.
    Lit {
        /// The value, of the column's type.
        v: Scalar,
    },
    /// The signed-in person: the subject of their token. Compares to text columns.
    Me,
    /// A claim of the signed-in person's token. A claim that is missing, or that does not fit the column, equals
    /// nothing.
    Claim {
        /// The name of the claim: lowercase, 1–32 characters.
        #[schema(pattern = "^[a-z][a-z0-9_-]{0,31}$", example = "team")]
        name: String,
    },
}

/// A fixed value in a rule.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Scalar {
    /// Text of at most 200 characters.
    #[schema(value_type = RuleText)]
    Text(String),
    /// True or false.
    Boolean(bool),
    /// A number.
    #[schema(value_type = f64)]
    Number(Number),
}
