//! Tests of rules: what a caller may do to which rows, and by which rule. Nothing is written.

use super::{Engine, body};
use crate::{
    access::Access,
    error::{Error, Result},
    ident::ProjectRef,
    query::Query,
    rule::Action,
    sql::{self, ProbedRows, RuleProbe, RuleResult},
};

/// A test of the rules of a table: an action, and the rows that it is about.
#[derive(Clone, Copy, Debug)]
pub struct RuleTest<'a> {
    /// The action of the caller.
    pub action: Action,
    /// A row as a JSON object: the row to insert, read or delete, or the columns that an update sets. Required for an
    /// insert and an update.
    pub row: Option<&'a [u8]>,
    /// Filters of a query string that select existing rows; the first 20 by id are tested. Empty for all rows, or for
    /// `row` alone.
    pub filter: &'a str,
}

/// The result of a test of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTestReport {
    /// True if the action is allowed on at least one row.
    pub allowed: bool,
    /// The id of the deciding rule: the first that allows the action. `None` if no rule does, or none is needed.
    pub rule: Option<String>,
    /// The reason, in one sentence.
    pub reason: String,
    /// The rules of the table, in order.
    pub rules: Vec<RuleResult>,
    /// The rows that were tested.
    pub rows: Vec<RowResult>,
}

/// The result of a test for one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowResult {
    /// The id of the row.
    pub id: String,
    /// True if the action is allowed.
    pub allowed: bool,
    /// The id of the rule that allows it; `None` if no rule does, or none is needed.
    pub rule: Option<String>,
}

impl Engine {
    /// Tests what a caller may do. Nothing is written: conditions are evaluated on the rows as they are, as they would
    /// be after the update, or as the test gives them.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the row or the filter does not fit the table, or the action
    /// needs a row; [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such project or table.
    pub async fn test_rules(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        test: &RuleTest<'_>,
    ) -> Result<RuleTestReport> {
        let query = Query::parse(test.filter)?;
        let only = Query { filter: query.filter.clone(), ..Query::default() };
        if query != only {
            return Err(Error::invalid_request("`filter` takes only filters"));
        }
        let now = self.clock.now();
        let plan = |target: &sql::Target<'_>| -> Result<RuleProbe> {
            let subject = match (test.action, test.row) {
                (Action::Insert, None) => {
                    return Err(Error::invalid_request("a test of an insert needs a `row`"));
                }
                (Action::Update, None) => {
                    return Err(Error::invalid_request(
                        "a test of an update needs a `row` with the columns that it sets",
                    ));
                }
                (Action::Update, Some(row)) => {
                    let sets = body::parse_assignments(target.table, row)?;
                    if sets.is_empty() {
                        return Err(Error::invalid_body("the row sets no column"));
                    }
                    ProbedRows::Changed { filter: &query.filter, sets }
                }
                (_, Some(row)) => {
                    if !query.filter.is_empty() {
                        return Err(Error::invalid_request("send `row` or `filter`, not both"));
                    }
                    let fill = body::RowDefaults::new(target.table, &self.ids, now)?;
                    let changes = body::parse_insert_rows(target.table, row, None, 1, &fill)?;
                    ProbedRows::Given(changes)
                }
                (_, None) => ProbedRows::Stored { filter: &query.filter },
            };
            sql::probe_rules(target, test.action, subject)
        };
        let rules = std::sync::Mutex::new(Vec::new());
        let result = self
            .run_on_table(project, access, table, plan, |probe| {
                let RuleProbe { read, rule_results } = probe;
                *rules.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = rule_results;
                self.store.read(project, read)
            })
            .await?;
        let rules = rules.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rows: Vec<ProbedRow> = serde_json::from_slice(&result.body)
            .map_err(|_| Error::internal("a test of rules returned no rows"))?;
        let (catalog, _) = self.get_catalog(project).await?;
        let is_public = catalog.get_table(table)?.public_read;
        let is_covered = access.covers_table(table);
        Ok(build_report(access, test.action, (is_public, is_covered), rules, &rows))
    }
}

/// A row of a [`RuleProbe`], by the names of its columns.
type ProbedRow = std::collections::BTreeMap<String, serde_json::Value>;

/// Returns the reason why no row meets the condition of a rule.
fn unmet_condition(rule: &RuleResult) -> String {
    let findings: Vec<&str> = rule
        .conditions
        .iter()
        .filter(|condition| !condition.compares)
        .map(|condition| condition.finding.as_str())
        .collect();
    if findings.is_empty() {
        return "its condition does not hold".to_owned();
    }
    format!("its condition does not hold: {}", findings.join("; "))
}

fn build_report(
    access: &Access,
    action: Action,
    (is_public, is_covered): (bool, bool),
    rules: Vec<RuleResult>,
    probed: &[ProbedRow],
) -> RuleTestReport {
    let exemption = match access {
        Access::Owner => Some("The owner may do anything."),
        Access::Service { .. } if is_covered && access.has_scope(action.required_scope()) => {
            Some("A secret key may do what its scopes allow; rules do not apply to it.")
        }
        Access::Visitor | Access::Person(_) if is_public && action == Action::Read => {
            Some("The table is public: anyone may read every row.")
        }
        _ => None,
    };
    let met = |row: &ProbedRow, rule: &RuleResult| {
        rule.applies && row.get(&format!("rule {}", rule.id)).is_some_and(|met| met == true)
    };
    let rows: Vec<RowResult> = probed
        .iter()
        .map(|row| {
            let rule = rules.iter().find(|rule| met(row, rule)).map(|rule| rule.id.clone());
            let id = row.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            // An update must be allowed on the row as it is, and as it becomes.
            let after = row.get("after").is_none_or(|after| after == true);
            RowResult {
                id,
                allowed: exemption.is_some() || (rule.is_some() && after),
                rule: rule.filter(|_| exemption.is_none()),
            }
        })
        .collect();
    let rules: Vec<RuleResult> = rules
        .into_iter()
        .map(|rule| {
            let matched = probed.iter().filter(|row| met(row, &rule)).count() as u64;
            let reason = (rule.applies && matched == 0 && !probed.is_empty()).then(|| unmet_condition(&rule));
            RuleResult {
                matched: rule.applies.then_some(matched),
                reason: rule.reason.clone().or(reason),
                ..rule
            }
        })
        .collect();
    let deciding = rows.iter().find(|row| row.allowed);
    let allowed = deciding.is_some();
    let rule = deciding.and_then(|row| row.rule.clone());
    let reason = match (exemption, &rule) {
        (Some(free), _) if allowed => free.to_owned(),
        (None, Some(rule)) => format!("Rule `{rule}` allows it."),
        _ if probed.is_empty() => "No row meets the filter.".to_owned(),
        _ if matches!(access, Access::Service { .. }) => {
            format!(
                "The key does not have the scope {}, or may not use this table.",
                action.required_scope().as_str()
            )
        }
        _ if !rules.iter().any(|rule| rule.applies) => {
            "No rule applies to this caller and action.".to_owned()
        }
        _ if rows.iter().any(|row| row.rule.is_some()) => {
            "No rule allows the row as the update would leave it.".to_owned()
        }
        _ => "No row meets the condition of a rule that applies.".to_owned(),
    };
    RuleTestReport { allowed, rule, reason, rules, rows }
}
