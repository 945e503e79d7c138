//! Accepting webhook calls: keys, deliveries, runs and queue entries of a whole batch in a handful of statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kernel::{
    Id, StoreError,
    id::{AutomationId, DeliveryId, HookId, RunId, WorkspaceId},
};
use runs::{
    RunStatus,
    queue::ClaimedRun,
    webhooks::{Acceptance, OnRepeat, Stamp, Verdict},
};
use sea_orm::DbBackend;
use uuid::Uuid;

use super::{
    begin::{self, Begun},
    claim::Claim,
    quota,
};
use crate::{
    convert::millis,
    error::inconsistent,
    runs::{
        promote,
        queue_state::{HELD, LEASED, READY},
    },
    sql::{Db, Sql, SqlRow, column, pieces},
};

type Key = (HookId, [u8; 32]);

/// What became of calls.
#[derive(Default)]
pub(crate) struct Accepted {
    /// One for each, in order.
    pub(crate) verdicts: Vec<Verdict>,
    /// The runs that are claimed already.
    pub(crate) begun: Vec<ClaimedRun>,
}

/// Accepts what can be accepted. Where nothing else waits, `claim` takes of it at once what it has room for: a run that
/// waits for nobody need not be queued, found and read again.
pub(crate) async fn accept<D: Db>(
    db: &D,
    batch: &[&Acceptance],
    claim: Option<Claim>,
) -> Result<Accepted, StoreError> {
    if batch.is_empty() {
        return Ok(Accepted::default());
    }
    let standings = standings(db, batch).await?;
    let mut plan = Plan::of(batch, &standings);
    plan.claim_keys(db).await?;
    plan.take_quota(db).await?;
    let accepted = plan.accepted();
    let begun = claim.map(|claim| begin::begin(&accepted, &standings, claim)).unwrap_or_default();
    insert(db, &accepted, &begun).await?;
    let verdicts = plan.into_verdicts();
    remember_repeats(db, batch, &verdicts).await?;
    Ok(Accepted { verdicts, begun: begun.into_values().map(|begun| begun.run).collect() })
}

/// How a webhook stands at this moment.
pub(super) struct Standing {
    pub(super) stamp: Stamp,
    pub(super) version: Option<Uuid>,
    pub(super) retries: u8,
}

async fn standings<D: Db>(db: &D, batch: &[&Acceptance]) -> Result<HashMap<HookId, Standing>, StoreError> {
    let hooks: BTreeSet<Uuid> = batch.iter().map(|acceptance| acceptance.hook.uuid()).collect();
    let hooks: Vec<Uuid> = hooks.into_iter().collect();
    let mut standings = HashMap::new();
    for hooks in pieces(db, &hooks) {
        let mut sql = Sql::new(
            "SELECT h.id, h.revision, a.revision, p.revision, w.revision, p.current_version_id, a.retries FROM webhooks h \
             JOIN automations a ON a.id = h.automation_id JOIN apps p ON p.id = a.app_id \
             JOIN workspaces w ON w.id = h.workspace_id WHERE h.id IN (",
        );
        sql.bind_all(hooks.iter().copied()).push(")");
        if db.backend() == DbBackend::Postgres {
            // Until the batch is committed nobody deletes the automation: whoever does finds its runs in the queue.
            sql.push(" ORDER BY a.id FOR KEY SHARE OF a");
        }
        for row in sql.all(db).await? {
            let stamp = Stamp([column(&row, 1)?, column(&row, 2)?, column(&row, 3)?, column(&row, 4)?]);
            let retries = column::<i16>(&row, 6)?.try_into().unwrap_or_default();
            let standing = Standing { stamp, version: column(&row, 5)?, retries };
            standings.insert(Id::from_uuid(column(&row, 0)?), standing);
        }
    }
    Ok(standings)
}

/// What is decided of each call so far.
enum Fate {
    /// It goes on.
    Open,
    /// It is decided.
    Decided(Verdict),
    /// It is the same as an earlier call of this very batch.
    Follows { leader: usize, on_repeat: OnRepeat },
}

struct Plan<'a> {
    batch: &'a [&'a Acceptance],
    fates: Vec<Fate>,
}

impl<'a> Plan<'a> {
    fn of(batch: &'a [&'a Acceptance], standings: &HashMap<HookId, Standing>) -> Self {
        let mut owners: HashMap<Key, usize> = HashMap::new();
        let fates = batch.iter().enumerate().map(|(index, acceptance)| {
            if standings.get(&acceptance.hook).is_none_or(|standing| standing.stamp != acceptance.stamp) {
                return Fate::Decided(Verdict::Stale);
            }
            let known = acceptance.keys.iter().find_map(|key| {
                let leader = *owners.get(&(acceptance.hook, key.digest))?;
                Some(Fate::Follows { leader, on_repeat: key.on_repeat })
            });
            // A call that follows owns what it brings anew: its signature must not start another run either.
            for key in &acceptance.keys {
                owners.entry((acceptance.hook, key.digest)).or_insert(index);
            }
            known.unwrap_or(Fate::Open)
        });
        Self { batch, fates: fates.collect() }
    }

    /// The calls that go on, with their places.
    fn open(&self) -> impl Iterator<Item = (usize, &'a Acceptance)> {
        let batch = self.batch;
        self.fates
            .iter()
            .enumerate()
            .filter(|(_, fate)| matches!(fate, Fate::Open))
            .map(move |(index, _)| (index, batch[index]))
    }

    /// Writes the keys of the calls that go on. A key that is taken already decides its call.
    async fn claim_keys<D: Db>(&mut self, db: &D) -> Result<(), StoreError> {
        // In the order of the primary key, so that two nodes with the same keys wait for each other one way only.
        let mut wanted = BTreeMap::new();
        for (_, acceptance) in self.open() {
            for key in &acceptance.keys {
                wanted.insert((acceptance.hook, key.digest), (acceptance, key.expires_at));
            }
        }
        let rows: Vec<_> = wanted.into_iter().collect();
        let mut claimed: BTreeSet<Key> = BTreeSet::new();
        for rows in pieces(db, &rows) {
            let mut sql = Sql::new(
                "INSERT INTO webhook_keys (webhook_id, digest, run_id, delivery_id, expires_at) VALUES ",
            );
            sql.rows(rows, |sql, ((hook, digest), (acceptance, expires_at))| {
                sql.bind(hook.uuid()).push(", ").bind(digest.to_vec()).push(", ").bind(acceptance.run.uuid());
                sql.push(", ").bind(acceptance.delivery.uuid()).push(", ").bind(millis(*expires_at));
            });
            // A key whose time is over is as good as none.
            let now = rows.iter().map(|(_, (acceptance, _))| acceptance.at).max().map_or(0, millis);
            sql.push(
                " ON CONFLICT (webhook_id, digest) DO UPDATE SET run_id = excluded.run_id, \
                 delivery_id = excluded.delivery_id, expires_at = excluded.expires_at \
                 WHERE webhook_keys.expires_at <= ",
            );
            sql.bind(now);
            claimed.extend(sql.changed(db, rows, ("webhook_id, digest", key), |(key, _)| *key).await?);
        }
        let taken: Vec<Key> = rows.iter().map(|(key, _)| *key).filter(|key| !claimed.contains(key)).collect();
        if taken.is_empty() {
            return Ok(());
        }
        let earlier = earlier_calls(db, &taken).await?;
        let mut given_back = Vec::new();
        for (index, acceptance) in self.open().collect::<Vec<_>>() {
            let place = |key: &runs::webhooks::DedupKey| (acceptance.hook, key.digest);
            let Some(repeat) = acceptance.keys.iter().find(|key| !claimed.contains(&place(key))) else {
                continue;
            };
            let verdict = match (repeat.on_repeat, earlier.get(&place(repeat))) {
                (OnRepeat::Refuse, _) => Verdict::Replayed,
                (OnRepeat::SameAnswer, Some((run, delivery))) => {
                    Verdict::Repeated { run: *run, delivery: *delivery }
                }
                // It was swept away between the two statements.
                (OnRepeat::SameAnswer, None) => Verdict::Stale,
            };
            self.fates[index] = Fate::Decided(verdict);
            given_back.extend(acceptance.keys.iter().map(place).filter(|key| claimed.contains(key)));
        }
        delete_keys(db, &given_back).await
    }

    /// Takes the runs from their workspaces' months. What goes over is refused and gives its keys back.
    async fn take_quota<D: Db>(&mut self, db: &D) -> Result<(), StoreError> {
        let mut by_workspace: BTreeMap<WorkspaceId, Vec<usize>> = BTreeMap::new();
        for (index, acceptance) in self.open() {
            by_workspace.entry(acceptance.workspace).or_default().push(index);
        }
        for (workspace, calls) in by_workspace {
            let Some(first) = calls.first().map(|index| self.batch[*index]) else { continue };
            let granted =
                quota::take(db, workspace, first.at, calls.len() as u64, first.runs_per_month).await?;
            let over: Vec<usize> =
                calls.into_iter().skip(usize::try_from(granted).unwrap_or(usize::MAX)).collect();
            let mut given_back = Vec::new();
            for index in over {
                self.fates[index] = Fate::Decided(Verdict::QuotaReached);
                let acceptance = self.batch[index];
                given_back.extend(acceptance.keys.iter().map(|key| (acceptance.hook, key.digest)));
            }
            delete_keys(db, &given_back).await?;
        }
        Ok(())
    }

    fn accepted(&self) -> Vec<&'a Acceptance> {
        self.open().map(|(_, acceptance)| acceptance).collect()
    }

    fn into_verdicts(self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(self.fates.len());
        for fate in self.fates {
            let verdict = match fate {
                Fate::Open => Verdict::Accepted,
                Fate::Decided(verdict) => verdict,
                Fate::Follows { leader, on_repeat } => match (verdicts[leader], on_repeat) {
                    (Verdict::Accepted | Verdict::Repeated { .. }, OnRepeat::Refuse) => Verdict::Replayed,
                    (Verdict::Accepted, OnRepeat::SameAnswer) => {
                        let leader = self.batch[leader];
                        Verdict::Repeated { run: leader.run, delivery: leader.delivery }
                    }
                    (repeated @ Verdict::Repeated { .. }, OnRepeat::SameAnswer) => repeated,
                    // The signature they share is known from before.
                    (Verdict::Replayed, OnRepeat::Refuse) => Verdict::Replayed,
                    // Nothing is left for this one either.
                    (Verdict::QuotaReached, _) => Verdict::QuotaReached,
                    // The leader came to nothing: decide about this one by itself.
                    (Verdict::Replayed | Verdict::Stale, _) => Verdict::Stale,
                },
            };
            verdicts.push(verdict);
        }
        verdicts
    }
}

fn key(row: &SqlRow) -> Result<Key, StoreError> {
    let hook: Uuid = column(row, 0)?;
    let digest: Vec<u8> = column(row, 1)?;
    let digest =
        digest.try_into().map_err(|_| inconsistent("webhook_keys", hook, "a digest has another length"))?;
    Ok((Id::from_uuid(hook), digest))
}

async fn earlier_calls<D: Db>(db: &D, keys: &[Key]) -> Result<HashMap<Key, (RunId, DeliveryId)>, StoreError> {
    let mut earlier = HashMap::new();
    for keys in pieces(db, keys) {
        let mut sql = Sql::new(
            "SELECT webhook_id, digest, run_id, delivery_id FROM webhook_keys WHERE (webhook_id, digest) IN (VALUES ",
        );
        push_keys(&mut sql, keys);
        for row in sql.all(db).await? {
            earlier.insert(key(&row)?, (Id::from_uuid(column(&row, 2)?), Id::from_uuid(column(&row, 3)?)));
        }
    }
    Ok(earlier)
}

/// Remembers every key of a repeated call under the call it repeats. Its signature is a fresh one: whoever captured the
/// request could otherwise send it again without the key that made it a repeat.
async fn remember_repeats<D: Db>(
    db: &D,
    batch: &[&Acceptance],
    verdicts: &[Verdict],
) -> Result<(), StoreError> {
    let mut keys = BTreeMap::new();
    for (acceptance, verdict) in batch.iter().zip(verdicts) {
        if let Verdict::Repeated { run, delivery } = verdict {
            let of_call = acceptance.keys.iter();
            keys.extend(
                of_call.map(|key| ((acceptance.hook, key.digest), (*run, *delivery, key.expires_at))),
            );
        }
    }
    let keys: Vec<_> = keys.into_iter().collect();
    for keys in pieces(db, &keys) {
        let mut sql = Sql::new(
            "INSERT INTO webhook_keys (webhook_id, digest, run_id, delivery_id, expires_at) VALUES ",
        );
        sql.rows(keys, |sql, ((hook, digest), (run, delivery, expires_at))| {
            sql.bind(hook.uuid()).push(", ").bind(digest.to_vec()).push(", ").bind(run.uuid()).push(", ");
            sql.bind(delivery.uuid()).push(", ").bind(millis(*expires_at));
        });
        sql.push(" ON CONFLICT (webhook_id, digest) DO NOTHING");
        sql.execute(db).await?;
    }
    Ok(())
}

async fn delete_keys<D: Db>(db: &D, keys: &[Key]) -> Result<(), StoreError> {
    for keys in pieces(db, keys) {
        let mut sql = Sql::new("DELETE FROM webhook_keys WHERE (webhook_id, digest) IN (VALUES ");
        push_keys(&mut sql, keys);
        sql.execute(db).await?;
    }
    Ok(())
}

fn push_keys(sql: &mut Sql, keys: &[Key]) {
    sql.rows(keys, |sql, (hook, digest)| {
        sql.bind(hook.uuid()).push(", ").bind(digest.to_vec());
    });
    sql.push(")");
}

async fn insert<D: Db>(
    db: &D,
    accepted: &[&Acceptance],
    begun: &BTreeMap<RunId, Begun>,
) -> Result<(), StoreError> {
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO deliveries (id, webhook_id, workspace_id, run_id, received_at, bytes, sample) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            sql.bind(call.delivery.uuid())
                .push(", ")
                .bind(call.hook.uuid())
                .push(", ")
                .bind(call.workspace.uuid());
            sql.push(", ").bind(call.run.uuid()).push(", ").bind(millis(call.at)).push(", ");
            sql.bind(i64::from(call.bytes)).push(", ").bind(call.sample);
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO runs (id, workspace_id, app_id, automation_id, trigger_kind, accepted_at, minutes_saved, status, \
             attempt, started_at, version_id) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            sql.bind(call.run.uuid()).push(", ").bind(call.workspace.uuid()).push(", ").bind(call.app.uuid());
            sql.push(", ").bind(call.automation.uuid()).push(", ").bind(call.trigger.as_str());
            sql.push(", ").bind(millis(call.at)).push(", 0, ");
            let begun = begun.get(&call.run).map(|begun| &begun.run);
            let status = if begun.is_some() { RunStatus::Running } else { RunStatus::Queued };
            sql.bind(status.as_str()).push(", ").bind(begun.map_or(0, |run| i64::from(run.attempt)));
            sql.push(", ").bind(begun.map(|run| millis(run.started_at))).push(", ");
            sql.bind(begun.and_then(|run| run.version).map(Id::uuid));
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new("INSERT INTO run_inputs (run_id, input) VALUES ");
        sql.rows(calls, |sql, call| {
            sql.bind(call.run.uuid()).push(", ").bind(call.input.get());
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO run_queue (run_id, workspace_id, automation_id, state, available_at, attempt, leased_by, \
             leased_until) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            let begun = begun.get(&call.run);
            let state = match (begun, call.max_concurrency) {
                (Some(_), _) => LEASED,
                (None, Some(_)) => HELD,
                (None, None) => READY,
            };
            sql.bind(call.run.uuid())
                .push(", ")
                .bind(call.workspace.uuid())
                .push(", ")
                .bind(call.automation.uuid());
            sql.push(", ").bind(state).push(", ").bind(millis(call.at)).push(", ");
            sql.bind(begun.map_or(0, |begun| i64::from(begun.run.attempt))).push(", ");
            sql.bind(begun.map(|begun| begun.node.uuid())).push(", ");
            sql.bind(begun.map(|begun| millis(begun.until)));
        });
        sql.execute(db).await?;
    }
    let limited: BTreeMap<AutomationId, u16> =
        accepted.iter().filter_map(|call| Some((call.automation, call.max_concurrency?))).collect();
    for (automation, max) in limited {
        promote(db, automation, Some(max)).await?;
    }
    Ok(())
}
