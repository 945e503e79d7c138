//! Trying rules: what a caller may do to which rows, and by which rule. Only reads are made.

use serde::Deserialize;

use super::{Engine, body};
use crate::{
    access::Access,
    error::{Error, Result},
    ident::ProjectRef,
    query::Query,
    rule::Action,
    sql::{self, Probe, Subject},
};

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// What the caller would do.
    pub action: Action,
    /// A row as JSON: the one to insert, to be read or to be deleted, or what an update sets.
    pub row: Option<&'a [u8]>,
    /// Which rows are meant, as filters of a query string; at most 20 of them are tried.
    pub filter: &'a str,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the action is allowed, for one row at least.
    pub allowed: bool,
    /// The rule that decides: the first that allows it.
    pub rule: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// Every rule of the table, in order.
    pub rules: Vec<RuleVerdict>,
    /// Every row that was tried.
    pub rows: Vec<RowVerdict>,
}

/// What one rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleVerdict {
    /// The rule.
    pub id: String,
    /// Whether it speaks of this caller, this action and these columns.
    pub applies: bool,
    /// How many of the rows meet its condition; nothing where it does not apply.
    pub matched: Option<u64>,
    /// Why it does not apply or does not match.
    pub reason: Option<String>,
}

/// What holds for one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowVerdict {
    /// The row's id.
    pub id: String,
    /// Whether the action is allowed.
    pub allowed: bool,
    /// The rule that allows it.
    pub rule: Option<String>,
}

impl Engine {
    /// Tries what a caller may do. Nothing is written: conditions are asked about rows as they are, as they would be
    /// after the update, or as they are given.
    ///
    /// # Errors
    /// When the row or the filter does not fit the table.
    pub async fn try_rules(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        trial: &Trial<'_>,
    ) -> Result<Verdict> {
        let query = Query::parse(trial.filter)?;
        let only = Query { filter: query.filter.clone(), ..Query::default() };
        if query != only {
            return Err(Error::invalid("`filter` takes filters alone"));
        }
        let now = self.clock.now();
        let plan = |target: &sql::Target<'_>| -> Result<Probe> {
            let subject = match (trial.action, trial.row) {
                (Action::Insert, None) => return Err(Error::invalid("an insert is tried with a `row`")),
                (Action::Update, None) => {
                    return Err(Error::invalid("an update is tried with a `row` of what it sets"));
                }
                (Action::Update, Some(row)) => {
                    let sets = body::sets(target.table, row)?;
                    if sets.is_empty() {
                        return Err(Error::body("the row sets no column"));
                    }
                    Subject::Changed { filter: &query.filter, sets }
                }
                (_, Some(row)) => {
                    if !query.filter.is_empty() {
                        return Err(Error::invalid("a row is given, or rows are filtered, and not both"));
                    }
                    let fill = body::Fill::new(target.table, &self.ids, now)?;
                    let changes = body::changes(target.table, row, None, 1, &fill)?;
                    Subject::Given(changes)
                }
                (_, None) => Subject::Stored { filter: &query.filter },
            };
            sql::probe(target, trial.action, subject)
        };
        let verdicts = std::sync::Mutex::new(Vec::new());
        let answer = self
            .run(project, access, table, plan, |probe| {
                let Probe { read, verdicts: found } = probe;
                *verdicts.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = found;
                self.store.read(project, read)
            })
            .await?;
        let verdicts = verdicts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        #[derive(Deserialize)]
        struct Found(std::collections::BTreeMap<String, serde_json::Value>);
        let found: Vec<Found> =
            serde_json::from_slice(&answer.body).map_err(|_| Error::internal("a trial gave no rows"))?;
        let found: Vec<_> = found.into_iter().map(|Found(row)| row).collect();
        let (catalog, _) = self.catalog(project).await?;
        let public = catalog.require(table)?.public_read;
        let reaches = access.reaches(table);
        Ok(judge(access, trial.action, (public, reaches), verdicts, &found))
    }
}

type Found = std::collections::BTreeMap<String, serde_json::Value>;

fn judge(
    access: &Access,
    action: Action,
    (public, reaches): (bool, bool),
    rules: Vec<RuleVerdict>,
    found: &[Found],
) -> Verdict {
    let free = match access {
        Access::Owner => Some("The owner may do anything."),
        Access::Service { .. } if reaches && access.has(action.scope()) => {
            Some("A secret key does what its scopes allow; rules do not apply to it.")
        }
        Access::Visitor | Access::Person(_) if public && action == Action::Read => {
            Some("The table is public: anyone may read every row.")
        }
        _ => None,
    };
    let met = |row: &Found, rule: &RuleVerdict| {
        rule.applies && row.get(&format!("rule {}", rule.id)).is_some_and(|met| met == true)
    };
    let rows: Vec<RowVerdict> = found
        .iter()
        .map(|row| {
            let rule = rules.iter().find(|rule| met(row, rule)).map(|rule| rule.id.clone());
            let id = row.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            // An update must be allowed as the row was, and as it becomes.
            let after = row.get("after").is_none_or(|after| after == true);
            RowVerdict {
                id,
                allowed: free.is_some() || (rule.is_some() && after),
                rule: rule.filter(|_| free.is_none()),
            }
        })
        .collect();
    let rules: Vec<RuleVerdict> = rules
        .into_iter()
        .map(|rule| {
            let matched = found.iter().filter(|row| met(row, &rule)).count() as u64;
            let reason = (rule.applies && matched == 0 && !found.is_empty())
                .then(|| "its condition does not hold".to_owned());
            RuleVerdict {
                matched: rule.applies.then_some(matched),
                reason: rule.reason.clone().or(reason),
                ..rule
            }
        })
        .collect();
    let deciding = rows.iter().find(|row| row.allowed);
    let allowed = deciding.is_some();
    let rule = deciding.and_then(|row| row.rule.clone());
    let reason = match (free, &rule) {
        (Some(free), _) if allowed => free.to_owned(),
        (None, Some(rule)) => format!("Rule `{rule}` allows it."),
        _ if found.is_empty() => "No row meets the filter.".to_owned(),
        _ if matches!(access, Access::Service { .. }) => {
            format!("The key does not have the scope {}, or not this table.", action.scope().as_str())
        }
        _ if !rules.iter().any(|rule| rule.applies) => "No rule allows this caller that.".to_owned(),
        _ if rows.iter().any(|row| row.rule.is_some()) => {
            "The row, as it would become, meets no rule.".to_owned()
        }
        _ => "No rule that applies has a condition that holds.".to_owned(),
    };
    Verdict { allowed, rule, reason, rules, rows }
}
