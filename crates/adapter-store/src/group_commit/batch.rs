//! Operations, the batches that they are written in, and what becomes of them.

use kernel::{
    StoreError,
    id::{NodeId, WorkspaceId},
};
use runs::{
    queue::{ClaimedRun, FinishedRun},
    webhooks::{AcceptCall, AcceptOutcome, RefusedDelivery},
};

use super::{app_health::Observation, claim::ClaimRequest, slots::StartedRun};

/// The channel of an operation's result.
pub(super) type Reply<T> = ::group_commit::Reply<Result<T, StoreError>>;

/// An operation, with the channel of its result.
pub(crate) enum WriteOp {
    Accept(AcceptCall, Reply<AcceptOutcome>),
    Refuse(RefusedDelivery, Reply<()>),
    Finish(NodeId, Box<FinishedRun>, Reply<bool>),
    Claim(ClaimRequest, Reply<Vec<ClaimedRun>>),
}

impl WriteOp {
    pub(super) fn fail(self, error: StoreError) {
        // Whoever asked may have gone away meanwhile.
        match self {
            Self::Accept(_, reply) => drop(reply.send(Err(error))),
            Self::Refuse(_, reply) => drop(reply.send(Err(error))),
            Self::Finish(_, _, reply) => drop(reply.send(Err(error))),
            Self::Claim(_, reply) => drop(reply.send(Err(error))),
        }
    }
}

/// The operations of a batch, by kind.
#[derive(Default)]
pub(super) struct Batch<'o> {
    pub(super) accept: Vec<&'o AcceptCall>,
    pub(super) refuse: Vec<&'o RefusedDelivery>,
    pub(super) finish: Vec<(NodeId, &'o FinishedRun)>,
    pub(super) claim: Vec<&'o ClaimRequest>,
}

/// Outcomes of the operations of a batch, by kind and in order.
#[derive(Default)]
pub(super) struct BatchOutcome {
    pub(super) outcomes: Vec<AcceptOutcome>,
    /// Runs that have a slot already, of accepted calls and from the queue.
    pub(super) started: Vec<StartedRun>,
    pub(super) lease_held: Vec<bool>,
    /// True if the batch put runs into the queue that are due.
    pub(super) has_ready_runs: bool,
    pub(super) claimed: Vec<Vec<ClaimedRun>>,
    /// The observations of apps that were written.
    pub(super) observed: Vec<Observation>,
    /// The workspaces that have new events.
    pub(super) published_workspaces: Vec<WorkspaceId>,
}

impl<'o> Batch<'o> {
    pub(super) fn from_ops(ops: &'o [WriteOp]) -> Self {
        let mut batch = Self::default();
        for op in ops {
            match op {
                WriteOp::Accept(acceptance, _) => batch.accept.push(acceptance),
                WriteOp::Refuse(refused, _) => batch.refuse.push(refused),
                WriteOp::Finish(node, finished, _) => batch.finish.push((*node, finished)),
                WriteOp::Claim(claim, _) => batch.claim.push(claim),
            }
        }
        batch
    }
}
