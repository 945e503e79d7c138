//! The hot path: many requests share one transaction (group commit).
//!
//! Each lane is a task that takes what has queued up, up to [`MAX_BATCH`] operations, writes it in one transaction
//! and answers after the commit. While it commits, the next batch queues up: under load the batches grow and the
//! cost of a commit is shared, at rest nobody waits. SQLite has one writer, so one lane; PostgreSQL has several, and
//! a workspace always uses the same one, so that lanes do not wait for each other's rows.

mod accept;
mod claim;
mod dead;
mod desk;
mod finish;
pub(crate) mod quota;
mod refusal;

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use kernel::{
    StoreError,
    id::{NodeId, WorkspaceId},
};
use runs::{
    queue::FinishedRun,
    webhooks::{Acceptance, RefusedDelivery, Verdict},
};
use sea_orm::{DatabaseConnection, DbBackend};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::{error::OrStoreError as _, store};

/// How many operations share one transaction at most.
const MAX_BATCH: usize = 64;
/// How many operations may wait in a lane before senders do.
const LANE_DEPTH: usize = 1024;
const POSTGRES_LANES: usize = 4;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// One operation of the hot path, and where its answer goes.
pub(crate) enum Op {
    Accept(Acceptance, Reply<Verdict>),
    Refuse(RefusedDelivery, Reply<()>),
    Finish(NodeId, Box<FinishedRun>, Reply<bool>),
}

impl Op {
    fn fail(self, error: StoreError) {
        // Whoever asked may have gone away meanwhile.
        match self {
            Self::Accept(_, reply) => drop(reply.send(Err(error))),
            Self::Refuse(_, reply) => drop(reply.send(Err(error))),
            Self::Finish(_, _, reply) => drop(reply.send(Err(error))),
        }
    }
}

/// The lanes.
pub(crate) struct Hot(Vec<mpsc::Sender<Op>>);

impl Hot {
    pub(crate) fn start(db: &DatabaseConnection, work: &Arc<Notify>) -> Self {
        let lanes = if db.get_database_backend() == DbBackend::Postgres { POSTGRES_LANES } else { 1 };
        let start_lane = |_| {
            let (sender, receiver) = mpsc::channel(LANE_DEPTH);
            tokio::spawn(run_lane(db.clone(), Arc::clone(work), receiver));
            sender
        };
        Self((0..lanes).map(start_lane).collect())
    }

    /// Hands an operation to its workspace's lane and waits for the answer.
    pub(crate) async fn submit<T>(
        &self,
        workspace: WorkspaceId,
        op: impl FnOnce(Reply<T>) -> Op,
    ) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the store is stopping".into());
        let mut hasher = DefaultHasher::new();
        workspace.hash(&mut hasher);
        let lane = (hasher.finish() % self.0.len() as u64) as usize;
        let (reply, answer) = oneshot::channel();
        self.0[lane].send(op(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

async fn run_lane(db: DatabaseConnection, work: Arc<Notify>, mut ops: mpsc::Receiver<Op>) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while ops.recv_many(&mut batch, MAX_BATCH).await > 0 {
        if let Err((error, mut batch)) = write(&db, &work, std::mem::take(&mut batch)).await {
            if batch.len() == 1 {
                batch.remove(0).fail(error);
                continue;
            }
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                operations = batch.len(),
                "a batch failed; its operations are tried one by one"
            );
            for op in batch {
                if let Err((error, ops)) = write(&db, &work, vec![op]).await {
                    ops.into_iter().for_each(|op| op.fail(clone_of(&error)));
                }
            }
        }
    }
}

/// An error for each of those who wait: the cause of the first is in the log.
fn clone_of(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(cause.to_string().into()),
        other => StoreError::Failed(other.to_string().into()),
    }
}

/// Writes a batch in one transaction and answers; gives it back when nothing was written.
async fn write(db: &DatabaseConnection, work: &Notify, batch: Vec<Op>) -> Result<(), (StoreError, Vec<Op>)> {
    let (mut accept, mut refuse, mut finish) = (Vec::new(), Vec::new(), Vec::new());
    for op in &batch {
        match op {
            Op::Accept(acceptance, _) => accept.push(acceptance),
            Op::Refuse(refused, _) => refuse.push(refused),
            Op::Finish(node, finished, _) => finish.push((*node, &**finished)),
        }
    }
    let written = async {
        let tx = store::begin(db).await?;
        let verdicts = accept::accept(&tx, &accept).await?;
        refusal::insert(&tx, &refuse).await?;
        let finished = finish::finish(&tx, &finish).await?;
        tx.commit().await.or_store_error()?;
        Ok((verdicts, finished))
    };
    let (verdicts, finished) = match written.await {
        Ok(answers) => answers,
        Err(error) => return Err((error, batch)),
    };
    if finished.freed_places || verdicts.contains(&Verdict::Accepted) {
        work.notify_one();
    }
    let (mut verdicts, mut held) = (verdicts.into_iter(), finished.held.into_iter());
    for op in batch {
        match op {
            Op::Accept(_, reply) => drop(reply.send(Ok(verdicts.next().unwrap_or(Verdict::Stale)))),
            Op::Refuse(_, reply) => drop(reply.send(Ok(()))),
            Op::Finish(_, _, reply) => drop(reply.send(Ok(held.next().unwrap_or(false)))),
        }
    }
    Ok(())
}
