//! Row rules: who may do what to which rows of a table, as a tree and as a sentence.

mod read;
mod sentence;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{
    access::{Access, Person, Scope},
    catalog::{Column, ColumnType, Table},
    error::{Error, Quoted, Result},
    ident,
    value::Value,
};

/// The most rules of a table.
pub const MAX_RULES: usize = 16;

/// One thing callers may do. Rules add up; what no rule allows is forbidden.
///
/// ```
/// use backend_data::Rule;
///
/// let sentence = "Signed-in people may read and update rows where owner is the signed-in person.";
/// let rule = Rule::from_sentence("own", sentence)?;
/// assert_eq!(rule.to_sentence(), sentence);
/// # Ok::<(), backend_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A lowercase name, 2–32 characters, unique in its table.
    pub id: String,
    /// Whom it speaks of.
    pub audience: Audience,
    /// What they may do: one to four, each once.
    pub actions: Vec<Action>,
    /// To which rows.
    #[serde(rename = "where")]
    pub condition: Condition,
    /// To which columns; all where nothing is said.
    #[cfg_attr(feature = "openapi", schema(required))]
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
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
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
#[serde(tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// Every row.
    All,
    /// Rows whose column compares to a value. Null compares to nothing.
    Cmp {
        /// The column.
        column: String,
        /// How it compares.
        op: Comparison,
        /// To what.
        value: Operand,
    },
    /// Rows whose column is one of 1–20 values.
    In {
        /// The column.
        column: String,
        /// The values.
        values: Vec<Scalar>,
    },
    /// Rows whose column is null, or is not.
    Null {
        /// The column.
        column: String,
        /// Whether it must be null.
        #[serde(rename = "isNull")]
        is_null: bool,
    },
    /// Rows that meet every one of 2–8 conditions.
    And {
        /// Comparisons, lists and null checks.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        of: Vec<Condition>,
    },
    /// Rows that meet one of 2–8 conditions.
    Or {
        /// Comparisons, lists, null checks and `and`s.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
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
    pub(crate) fn sql(self) -> &'static str {
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
#[serde(tag = "k", rename_all = "snake_case", deny_unknown_fields)]
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
        name: String,
    },
}

/// A value in a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Scalar {
    /// Text of at most 200 characters.
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
            return Err(Error::invalid(message));
        }
        match self {
            Self::Text(text) if text.chars().count() > 200 => {
                Err(Error::invalid("a text value in a rule has at most 200 characters"))
            }
            Self::Text(text) if matches!(column.kind, ColumnType::Text | ColumnType::Timestamp) => {
                Value::from_text(column, text)
            }
            Self::Text(_) => {
                let message = format!("column {} does not hold text", Quoted(&column.name));
                Err(Error::value(message))
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
    pub(crate) fn scope(self) -> Scope {
        if self == Self::Read { Scope::RowsRead } else { Scope::RowsWrite }
    }
}

impl Rule {
    pub(crate) fn applies(&self, access: &Access, action: Action) -> bool {
        self.actions.contains(&action) && self.audience.includes(access)
    }

    pub(crate) fn covers(&self, column: &str) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.iter().any(|name| name == column))
    }
}

/// Checks the rules of a table and writes their sentences.
pub(crate) fn check_rules(table: &Table, rules: Vec<Rule>) -> Result<Vec<Rule>> {
    if rules.len() > MAX_RULES {
        return Err(Error::invalid(format!("a table has at most {MAX_RULES} rules")));
    }
    let mut ids = BTreeSet::new();
    rules
        .into_iter()
        .map(|mut rule| {
            check_rule(table, &rule)
                .map_err(|error| error.with_details(format!("In rule {}.", Quoted(&rule.id))))?;
            if !ids.insert(rule.id.clone()) {
                return Err(Error::invalid(format!("two rules have the id {}", Quoted(&rule.id))));
            }
            rule.sentence = rule.to_sentence();
            Ok(rule)
        })
        .collect()
}

fn check_rule(table: &Table, rule: &Rule) -> Result<()> {
    if !ident::is_lowercase_name(&rule.id, 2, 32) {
        return Err(Error::invalid("the id of a rule is a lowercase name of 2 to 32 characters"));
    }
    if let Audience::Role { role } = &rule.audience
        && !ident::is_lowercase_name(role, 1, 31)
    {
        return Err(Error::invalid("a role is a lowercase name of 1 to 31 characters"));
    }
    let distinct: BTreeSet<Action> = rule.actions.iter().copied().collect();
    if distinct.is_empty() || distinct.len() != rule.actions.len() {
        return Err(Error::invalid("a rule has one to four actions, each once"));
    }
    if let Some(columns) = &rule.columns {
        let distinct: BTreeSet<&String> = columns.iter().collect();
        if distinct.is_empty() || distinct.len() != columns.len() {
            return Err(Error::invalid("a rule lists at least one column, each once, or none at all"));
        }
        for column in columns {
            table.require(column)?;
        }
    }
    check_condition(table, &rule.condition, Inside::Rule)
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Rule,
    Or,
    And,
}

fn check_condition(table: &Table, condition: &Condition, inside: Inside) -> Result<()> {
    match condition {
        Condition::All if inside == Inside::Rule => Ok(()),
        Condition::Cmp { column, value, .. } => {
            let column = table.require(column)?;
            match value {
                Operand::Lit { v } => v.to_value(column).map(drop),
                Operand::Me if column.kind == ColumnType::Text => Ok(()),
                Operand::Me => {
                    Err(Error::invalid("only a text column can be compared to the signed-in person"))
                }
                Operand::Claim { .. } if column.kind == ColumnType::Json => {
                    Err(Error::invalid("a json column cannot be compared"))
                }
                Operand::Claim { name } if ident::is_lowercase_name(name, 1, 32) => Ok(()),
                Operand::Claim { .. } => {
                    Err(Error::invalid("a claim is a lowercase name of 1 to 32 characters"))
                }
            }
        }
        Condition::In { column, values } => {
            let column = table.require(column)?;
            if !(1..=20).contains(&values.len()) {
                return Err(Error::invalid("`in` takes 1 to 20 values"));
            }
            values.iter().try_for_each(|value| value.to_value(column).map(drop))
        }
        Condition::Null { column, .. } => table.require(column).map(drop),
        Condition::Or { of } if inside == Inside::Rule => check_many(table, of, Inside::Or),
        Condition::And { of } if inside != Inside::And => check_many(table, of, Inside::And),
        Condition::All | Condition::And { .. } | Condition::Or { .. } => {
            Err(Error::invalid("conditions nest as `or` of `and` of comparisons; `all` stands alone"))
        }
    }
}

fn check_many(table: &Table, of: &[Condition], inside: Inside) -> Result<()> {
    if !(2..=8).contains(&of.len()) {
        return Err(Error::invalid("`and` and `or` take 2 to 8 conditions"));
    }
    of.iter().try_for_each(|condition| check_condition(table, condition, inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        serde_json::from_str(
            r#"{"name":"notes","publicRead":false,"rules":[],"rowCount":null,"createdAt":"","columns":[
                {"name":"id","type":"text","nullable":false,"system":true},
                {"name":"owner","type":"text","nullable":true,"system":false},
                {"name":"qty","type":"integer","nullable":true,"system":false},
                {"name":"meta","type":"json","nullable":true,"system":false}]}"#,
        )
        .unwrap()
    }

    fn check(condition: &str) -> Result<Vec<Rule>> {
        let rule = format!(
            r#"{{"id":"mine","audience":{{"kind":"signed_in"}},"actions":["read","update"],"where":{condition},"columns":null}}"#
        );
        check_rules(&table(), vec![serde_json::from_str(&rule).unwrap()])
    }

    #[test]
    fn a_rule_says_itself_in_words() {
        let rules = check(
            r#"{"t":"or","of":[{"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}},
               {"t":"and","of":[{"t":"cmp","column":"qty","op":"gte","value":{"k":"lit","v":3}},{"t":"null","column":"meta","isNull":false}]}]}"#,
        )
        .unwrap();
        assert_eq!(
            rules[0].sentence,
            "Signed-in people may read and update rows where owner is the signed-in person, or qty is at least 3 and meta is not empty."
        );
    }

    #[test]
    fn what_does_not_fit_the_table_or_the_shape_is_refused() {
        for bad in [
            r#"{"t":"cmp","column":"nope","op":"eq","value":{"k":"me"}}"#,
            r#"{"t":"cmp","column":"qty","op":"eq","value":{"k":"me"}}"#,
            r#"{"t":"cmp","column":"qty","op":"eq","value":{"k":"lit","v":"three"}}"#,
            r#"{"t":"cmp","column":"meta","op":"eq","value":{"k":"lit","v":"x"}}"#,
            r#"{"t":"cmp","column":"owner","op":"eq","value":{"k":"claim","name":"UPPER"}}"#,
            r#"{"t":"in","column":"qty","values":[]}"#,
            r#"{"t":"and","of":[{"t":"all"},{"t":"all"}]}"#,
            r#"{"t":"or","of":[{"t":"null","column":"qty","isNull":true}]}"#,
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check(r#"{"t":"all"}"#).is_ok());
    }

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
