//! Statements that evaluate rules on rows, for tests of rules. They change nothing.

use super::{InsertRows, Params, Target, filter, policy, postgres_type::postgres_type, quote_ident};
use crate::{
    catalog::{Column, ColumnType},
    error::Result,
    output::OutputColumn,
    query::Filter,
    rule::{Action, OperandFinding, Rule},
    store::{Dialect, Format, Read},
    value::Value,
};

/// Maximum number of rows that are tested.
const MAX_TRIED: u64 = 20;

/// The rows that rules are evaluated on.
pub(crate) enum ProbedRows<'a> {
    /// Existing rows.
    Stored { filter: &'a [Filter] },
    /// Existing rows, and the same as an update would change them.
    Changed { filter: &'a [Filter], sets: Vec<(&'a Column, Value)> },
    /// One row that need not exist.
    Given(InsertRows<'a>),
}

/// The result of a test for one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleResult {
    /// The id of the rule.
    pub id: String,
    /// True if the rule applies to the caller and the action and covers the columns.
    pub applies: bool,
    /// Number of tested rows that meet the condition; `None` if the rule does not apply.
    pub matched: Option<u64>,
    /// The reason why it does not apply or matches no row.
    pub reason: Option<String>,
    /// Findings for each operand that depends on the caller; empty if the rule does not apply.
    pub conditions: Vec<OperandFinding>,
}

/// A statement that returns the `id` of each row and, for each rule that applies, a boolean under `rule ` and the id of
/// the rule: true if the row meets it. For an update, `after` is true if the changed row meets one of them.
pub(crate) struct RuleProbe {
    pub(crate) read: Read,
    pub(crate) rule_results: Vec<RuleResult>,
}

pub(crate) fn probe_rules(target: &Target<'_>, action: Action, subject: ProbedRows<'_>) -> Result<RuleProbe> {
    let table = target.table;
    let mut params = Params::new(target.dialect, 0);
    let mut used: Vec<&str> = Vec::new();
    match &subject {
        ProbedRows::Stored { filter: filters } if action == Action::Read => {
            filters.iter().for_each(|one| filter::collect_columns(one, &mut used));
        }
        ProbedRows::Changed { sets, .. } => used.extend(sets.iter().map(|(column, _)| column.name.as_str())),
        ProbedRows::Given(changes) if action == Action::Insert => used.extend(&changes.given),
        ProbedRows::Stored { .. } | ProbedRows::Given(_) => {}
    }
    let rule_results: Vec<RuleResult> = table
        .rules
        .iter()
        .map(|rule| {
            let reason = inapplicability_reason(target, rule, action, &used);
            let applies = reason.is_none();
            let conditions = if applies { rule.operand_findings(table, target.access) } else { Vec::new() };
            RuleResult { id: rule.id.clone(), applies, matched: None, reason, conditions }
        })
        .collect();
    let applying: Vec<&Rule> = table
        .rules
        .iter()
        .zip(&rule_results)
        .filter(|(_, result)| result.applies)
        .map(|(rule, _)| rule)
        .collect();
    let met = |params: &mut Params| -> Result<Vec<String>> {
        applying
            .iter()
            .map(|rule| {
                Ok(format!("coalesce({}, FALSE)", policy::condition_sql(target, &rule.condition, params)?))
            })
            .collect()
    };
    let mut output = vec![OutputColumn::new("id", ColumnType::Text)];
    let conditions: Vec<String>;
    let source = match subject {
        ProbedRows::Stored { filter: filters } => {
            let from = existing_rows_sql(target, filters, &mut params)?;
            conditions = met(&mut params)?;
            format!("FROM {} {from}", target.qualified_table())
        }
        ProbedRows::Given(changes) => {
            let row = changes.rows.into_iter().next().unwrap_or_default();
            let columns: Vec<String> = changes
                .columns
                .iter()
                .zip(row)
                .map(|(column, value)| bound_column(target.dialect, column, value, &mut params))
                .collect();
            conditions = met(&mut params)?;
            format!("FROM (SELECT {}) AS given", columns.join(", "))
        }
        ProbedRows::Changed { filter: filters, sets } => {
            let from = existing_rows_sql(target, filters, &mut params)?;
            let before = met(&mut params)?;
            let mut sets: std::collections::BTreeMap<&str, Value> =
                sets.into_iter().map(|(column, value)| (column.name.as_str(), value)).collect();
            let mut columns: Vec<String> = table
                .columns
                .iter()
                .map(|column| match sets.remove(column.name.as_str()) {
                    Some(value) => bound_column(target.dialect, column, value, &mut params),
                    None => quote_ident(&column.name),
                })
                .collect();
            // No column of a project begins with an underscore.
            columns.extend(before.iter().enumerate().map(|(at, met)| format!("{met} AS \"_{at}\"")));
            let after = met(&mut params)?;
            let after = if after.is_empty() { "FALSE".to_owned() } else { after.join(" OR ") };
            conditions =
                (0..applying.len()).map(|at| format!("\"_{at}\"")).chain([format!("({after})")]).collect();
            format!(
                "FROM (SELECT {} FROM {} {from}) AS changed",
                columns.join(", "),
                target.qualified_table()
            )
        }
    };
    let names = applying.iter().map(|rule| format!("rule {}", rule.id)).chain(["after".to_owned()]);
    output.extend(names.take(conditions.len()).map(|name| OutputColumn::new(&name, ColumnType::Boolean)));
    let shown: Vec<String> = std::iter::once("\"id\"".to_owned())
        .chain(conditions)
        .enumerate()
        .map(|(at, text)| format!("{text} AS \"c{at}\""))
        .collect();
    Ok(RuleProbe {
        read: Read {
            id_placeholder: None,
            is_plain: false,
            version: target.catalog.version,
            sql: format!("SELECT {} {source}", shown.join(", ")),
            params: params.values,
            output,
            cursor_keys: Vec::new(),
            format: Format::Json,
            count: None,
            max_bytes: target.max_bytes,
        },
        rule_results,
    })
}

/// Returns the reason why a rule does not apply, or `None` if it does.
fn inapplicability_reason(target: &Target<'_>, rule: &Rule, action: Action, used: &[&str]) -> Option<String> {
    if !rule.actions.contains(&action) {
        return Some(format!("its actions do not include {}", action.verb()));
    }
    if !rule.audience.includes(target.access) {
        return Some("its audience does not include this caller".to_owned());
    }
    let missing = used.iter().find(|column| !rule.covers_column(column))?;
    Some(format!("it does not cover the column {missing}"))
}

fn existing_rows_sql(target: &Target<'_>, filters: &[Filter], params: &mut Params) -> Result<String> {
    let parts: Vec<String> =
        filters.iter().map(|one| filter::filter_sql(target.table, one, params)).collect::<Result<_>>()?;
    let condition = if parts.is_empty() { String::new() } else { format!("WHERE {} ", parts.join(" AND ")) };
    Ok(format!("{condition}ORDER BY \"id\" LIMIT {MAX_TRIED}"))
}

/// Compiles a value under the name of a column.
fn bound_column(dialect: Dialect, column: &Column, value: Value, params: &mut Params) -> String {
    let value = params.bind(value);
    let name = quote_ident(&column.name);
    match (dialect, column.kind) {
        (Dialect::Sqlite, _) => format!("{value} AS {name}"),
        (Dialect::Postgres, ColumnType::Text) => format!("({value}::text COLLATE \"C\") AS {name}"),
        (Dialect::Postgres, kind) => format!("{value}::{} AS {name}", postgres_type(kind)),
    }
}
