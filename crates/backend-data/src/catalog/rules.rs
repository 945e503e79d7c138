//! Validation of rules against their table.

use std::collections::BTreeSet;

use super::{ColumnType, Table};
use crate::{
    error::{Error, Quoted, Result},
    ident,
    rule::{Action, Audience, Condition, MAX_RULES, Operand, Rule},
};

/// Checks the rules of a table and generates their sentences.
pub(crate) fn validate_rules(table: &Table, rules: Vec<Rule>) -> Result<Vec<Rule>> {
    if rules.len() > MAX_RULES {
        return Err(Error::invalid_request(format!("a table has at most {MAX_RULES} rules")));
    }
    let mut ids = BTreeSet::new();
    rules
        .into_iter()
        .map(|mut rule| {
            validate_rule(table, &rule)
                .map_err(|error| error.with_details(format!("In rule {}.", Quoted(&rule.id))))?;
            if !ids.insert(rule.id.clone()) {
                return Err(Error::invalid_request(format!("two rules have the id {}", Quoted(&rule.id))));
            }
            rule.sentence = rule.to_sentence();
            Ok(rule)
        })
        .collect()
}

fn validate_rule(table: &Table, rule: &Rule) -> Result<()> {
    if !ident::is_lowercase_name(&rule.id, 2, 32) {
        return Err(Error::invalid_request("the id of a rule is a lowercase name of 2 to 32 characters"));
    }
    if let Audience::Role { role } = &rule.audience
        && !ident::is_lowercase_name(role, 1, 31)
    {
        return Err(Error::invalid_request("a role is a lowercase name of 1 to 31 characters"));
    }
    let distinct: BTreeSet<Action> = rule.actions.iter().copied().collect();
    if distinct.is_empty() || distinct.len() != rule.actions.len() {
        return Err(Error::invalid_request("a rule has one to four actions, each once"));
    }
    if let Some(columns) = &rule.columns {
        let distinct: BTreeSet<&String> = columns.iter().collect();
        if distinct.is_empty() || distinct.len() != columns.len() {
            return Err(Error::invalid_request(
                "`columns` of a rule has at least one column, each once, or is null",
            ));
        }
        for column in columns {
            table.get_column(column)?;
        }
    }
    validate_condition(table, &rule.condition, Nesting::Rule)
}

#[derive(Clone, Copy, PartialEq)]
enum Nesting {
    Rule,
    Or,
    And,
}

fn validate_condition(table: &Table, condition: &Condition, inside: Nesting) -> Result<()> {
    match condition {
        Condition::All if inside == Nesting::Rule => Ok(()),
        Condition::Cmp { column, value, .. } => {
            let column = table.get_column(column)?;
            match value {
                Operand::Lit { v } => v.to_value(column).map(drop),
                Operand::Me if column.kind == ColumnType::Text => Ok(()),
                Operand::Me => {
                    Err(Error::invalid_request("only a text column can be compared to the signed-in person"))
                }
                Operand::Claim { .. } if column.kind == ColumnType::Json => {
                    Err(Error::invalid_request("a json column cannot be compared"))
                }
                Operand::Claim { name } if ident::is_lowercase_name(name, 1, 32) => Ok(()),
                Operand::Claim { .. } => {
                    Err(Error::invalid_request("a claim is a lowercase name of 1 to 32 characters"))
                }
            }
        }
        Condition::In { column, values } => {
            let column = table.get_column(column)?;
            if !(1..=20).contains(&values.len()) {
                return Err(Error::invalid_request("`in` takes 1 to 20 values"));
            }
            values.iter().try_for_each(|value| value.to_value(column).map(drop))
        }
        Condition::Null { column, .. } => table.get_column(column).map(drop),
        Condition::Or { of } if inside == Nesting::Rule => validate_conditions(table, of, Nesting::Or),
        Condition::And { of } if inside != Nesting::And => validate_conditions(table, of, Nesting::And),
        Condition::All | Condition::And { .. } | Condition::Or { .. } => Err(Error::invalid_request(
            "conditions nest as `or` of `and` of comparisons; `all` cannot be nested",
        )),
    }
}

fn validate_conditions(table: &Table, of: &[Condition], inside: Nesting) -> Result<()> {
    if !(2..=8).contains(&of.len()) {
        return Err(Error::invalid_request("`and` and `or` take 2 to 8 conditions"));
    }
    of.iter().try_for_each(|condition| validate_condition(table, condition, inside))
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
        validate_rules(&table(), vec![serde_json::from_str(&rule).unwrap()])
    }

    #[test]
    fn a_valid_rule_gets_its_sentence() {
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
    fn a_condition_that_does_not_fit_the_table_or_nests_too_deep_is_refused() {
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
}
