//! Values of operands for a caller, and what a test of rules says of them.

use serde::Deserialize as _;
use serde_json::Value as Json;

use super::{Comparison, Condition, MAX_CLAIM_LIST, Operand, Rule, Scalar};
use crate::{
    access::{Access, Person},
    catalog::{Column, ColumnType, Table},
    error::Result,
    value::Value,
};

/// The value of an operand for a caller.
#[derive(Debug, PartialEq)]
pub(crate) enum ResolvedOperand {
    /// One value; null, which equals nothing, if the caller does not have it.
    One(Value),
    /// The values of a list that fit the column.
    AnyOf(Vec<Value>),
}

/// The finding for an operand that depends on the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandFinding {
    /// The column that the operand is compared to.
    pub column: String,
    /// Description of the caller's value, such as `a list of 3` or `the token has no claim org`.
    pub finding: String,
    /// False if the comparison holds for no row.
    pub compares: bool,
}

impl Operand {
    /// Returns the value for a caller.
    pub(crate) fn resolve(&self, column: &Column, access: &Access) -> Result<ResolvedOperand> {
        let null = Value::Null(column.kind);
        let one = |value: Option<Value>| ResolvedOperand::One(value.unwrap_or(null));
        Ok(match self {
            Self::Lit { v } => ResolvedOperand::One(v.to_value(column)?),
            Self::Me => one(subject(access).and_then(|subject| Value::from_text(column, subject).ok())),
            Self::Claim { name } => match claim(access, name) {
                Some(Json::Array(list)) => {
                    let values = list.iter().take(MAX_CLAIM_LIST);
                    ResolvedOperand::AnyOf(values.filter_map(|value| claim_value(column, value)).collect())
                }
                claim => one(claim.and_then(|claim| claim_value(column, claim))),
            },
        })
    }

    /// Returns what the caller has, and whether it can compare to the column; `None` for a fixed value.
    fn find(&self, column: &Column, op: Comparison, access: &Access) -> Option<(String, bool)> {
        let no = |finding: &str| Some((finding.to_owned(), false));
        let name = match self {
            Self::Lit { .. } => return None,
            Self::Me if subject(access).is_some() => return Some(("the signed-in person".to_owned(), true)),
            Self::Me => return no("nobody is signed in"),
            Self::Claim { name } => name,
        };
        if !matches!(access, Access::Person(_)) {
            return no("nobody is signed in");
        }
        let kind = format!("the {} column {}", column.kind.as_str(), column.name);
        Some(match claim(access, name) {
            None => (format!("the token has no claim {name}"), false),
            Some(Json::Array(list)) if list.is_empty() => ("an empty list".to_owned(), false),
            Some(Json::Array(list)) => {
                let all = list.len();
                let fits =
                    list.iter().take(MAX_CLAIM_LIST).filter(|value| claim_value(column, value).is_some());
                match fits.count() {
                    _ if op != Comparison::Eq => {
                        (format!("a list of {all}, which only `eq` compares"), false)
                    }
                    0 => (format!("a list of {all}, none of which fits {kind}"), false),
                    fitting if fitting == all => (format!("a list of {all}"), true),
                    fitting => (format!("a list of {all}, of which {fitting} count for {kind}"), true),
                }
            }
            Some(value) => {
                let what = match value {
                    Json::String(_) => "a text",
                    Json::Number(_) => "a number",
                    Json::Bool(_) => "a boolean",
                    Json::Null => "null",
                    Json::Array(_) | Json::Object(_) => "an object",
                };
                let fits = claim_value(column, value).is_some();
                (if fits { what.to_owned() } else { format!("{what}, which does not fit {kind}") }, fits)
            }
        })
    }
}

/// Returns the signed-in person, if there is one with an identity.
fn subject(access: &Access) -> Option<&str> {
    match access {
        Access::Person(Person { subject, .. }) if !subject.is_empty() => Some(subject),
        _ => None,
    }
}

fn claim<'a>(access: &'a Access, name: &str) -> Option<&'a Json> {
    match access {
        Access::Person(person) => person.claims.get(name),
        _ => None,
    }
}

/// Returns a value of a claim as one of the column's type; `None` if it does not fit.
fn claim_value(column: &Column, value: &Json) -> Option<Value> {
    match (column.kind, value) {
        // Issuers write large numbers, and ids, as text.
        (ColumnType::Integer, Json::String(text)) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten().map(Value::Integer)
        }
        _ => Scalar::deserialize(value).ok()?.to_value(column).ok(),
    }
}

impl Rule {
    /// Returns what the caller has of each operand that depends on the caller, in the order of the conditions.
    pub(crate) fn operand_findings(&self, table: &Table, access: &Access) -> Vec<OperandFinding> {
        let mut findings = Vec::new();
        collect_findings(&self.condition, table, access, &mut findings);
        findings
    }
}

fn collect_findings(
    condition: &Condition,
    table: &Table,
    access: &Access,
    findings: &mut Vec<OperandFinding>,
) {
    match condition {
        Condition::Cmp { column, op, value } => {
            let found = table.column(column).and_then(|column| value.find(column, *op, access));
            findings.extend(found.map(|(finding, compares)| OperandFinding {
                column: column.clone(),
                finding,
                compares,
            }));
        }
        Condition::And { of } | Condition::Or { of } => {
            of.iter().for_each(|condition| collect_findings(condition, table, access, findings));
        }
        Condition::All | Condition::In { .. } | Condition::Null { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn column(kind: ColumnType) -> Column {
        Column { name: "org".into(), kind, nullable: true, system: false, default: None }
    }

    fn person(claim: Option<Json>) -> Access {
        let claims = claim.map(|claim| ("org".to_owned(), claim)).into_iter().collect();
        Access::Person(Person { subject: "ann".into(), claims, ..Person::default() })
    }

    #[test]
    fn a_claim_fits_the_columns_of_its_type_and_a_finding_says_what_it_is() {
        use ColumnType::{Boolean, Integer, Real, Text, Timestamp};
        let operand = Operand::Claim { name: "org".to_owned() };
        let int = |value: i64| ResolvedOperand::One(Value::Integer(value));
        let text = |value: &str| Value::Text(value.to_owned());
        let null = |kind| ResolvedOperand::One(Value::Null(kind));
        for (kind, claim, value, finding) in [
            (Text, Some(json!("a")), ResolvedOperand::One(text("a")), "a text"),
            (Text, Some(json!(7)), null(Text), "a number, which does not fit the text column org"),
            (Text, Some(json!(true)), null(Text), "a boolean, which does not fit the text column org"),
            (
                Text,
                Some(json!("a".repeat(201))),
                null(Text),
                "a text, which does not fit the text column org",
            ),
            (Text, Some(json!({"a": 1})), null(Text), "an object, which does not fit the text column org"),
            (Text, Some(Json::Null), null(Text), "null, which does not fit the text column org"),
            (Text, None, null(Text), "the token has no claim org"),
            (
                Text,
                Some(json!(["a", "b", "c"])),
                ResolvedOperand::AnyOf(vec![text("a"), text("b"), text("c")]),
                "a list of 3",
            ),
            (
                Text,
                Some(json!(["a", 7, ["b"], null])),
                ResolvedOperand::AnyOf(vec![text("a")]),
                "a list of 4, of which 1 count for the text column org",
            ),
            (
                Text,
                Some(json!([7])),
                ResolvedOperand::AnyOf(Vec::new()),
                "a list of 1, none of which fits the text column org",
            ),
            (Text, Some(json!([])), ResolvedOperand::AnyOf(Vec::new()), "an empty list"),
            (Integer, Some(json!(7)), int(7), "a number"),
            (Integer, Some(json!(7.0)), int(7), "a number"),
            (Integer, Some(json!("7")), int(7), "a text"),
            (Integer, Some(json!("-007")), int(-7), "a text"),
            (Integer, Some(json!("9223372036854775807")), int(i64::MAX), "a text"),
            (
                Integer,
                Some(json!(["7", 8])),
                ResolvedOperand::AnyOf(vec![Value::Integer(7), Value::Integer(8)]),
                "a list of 2",
            ),
            (
                Integer,
                Some(json!("9223372036854775808")),
                null(Integer),
                "a text, which does not fit the integer column org",
            ),
            (Integer, Some(json!(" 7")), null(Integer), "a text, which does not fit the integer column org"),
            (Integer, Some(json!("+7")), null(Integer), "a text, which does not fit the integer column org"),
            (Integer, Some(json!("7.0")), null(Integer), "a text, which does not fit the integer column org"),
            (Integer, Some(json!("")), null(Integer), "a text, which does not fit the integer column org"),
            (
                Integer,
                Some(json!("\u{0667}")),
                null(Integer),
                "a text, which does not fit the integer column org",
            ),
            (Real, Some(json!("7")), null(Real), "a text, which does not fit the real column org"),
            (
                Boolean,
                Some(json!("true")),
                null(Boolean),
                "a text, which does not fit the boolean column org",
            ),
            (Boolean, Some(json!(true)), ResolvedOperand::One(Value::Boolean(true)), "a boolean"),
            (
                Timestamp,
                Some(json!("soon")),
                null(Timestamp),
                "a text, which does not fit the timestamp column org",
            ),
        ] {
            let (column, access) = (column(kind), person(claim.clone()));
            let resolved = operand.resolve(&column, &access).unwrap();
            let compares = !matches!(&resolved, ResolvedOperand::One(Value::Null(_)))
                && resolved != ResolvedOperand::AnyOf(Vec::new());
            assert_eq!(resolved, value, "{claim:?}");
            let found = operand.find(&column, Comparison::Eq, &access);
            assert_eq!(found, Some((finding.to_owned(), compares)), "{claim:?}");
        }
        let list = person(Some(json!(["a"])));
        let found = operand.find(&column(Text), Comparison::Neq, &list);
        assert_eq!(found, Some(("a list of 1, which only `eq` compares".to_owned(), false)));
        let visitor = operand.find(&column(Text), Comparison::Eq, &Access::Visitor);
        assert_eq!(visitor, Some(("nobody is signed in".to_owned(), false)));
        assert_eq!(
            Operand::Lit { v: Scalar::Boolean(true) }.find(&column(Text), Comparison::Eq, &list),
            None
        );
    }

    #[test]
    fn a_long_list_counts_in_part() {
        let operand = Operand::Claim { name: "org".to_owned() };
        let list = person(Some(json!(vec!["a"; MAX_CLAIM_LIST + 1])));
        let Ok(ResolvedOperand::AnyOf(values)) = operand.resolve(&column(ColumnType::Text), &list) else {
            panic!("a list is a list")
        };
        assert_eq!(values.len(), MAX_CLAIM_LIST);
    }
}
