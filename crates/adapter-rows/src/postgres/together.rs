//! Reads by id that travel together: what is asked while a statement of the same shape is under way waits for its end,
//! and goes with all others that wait in the next one. At rest nobody waits; under load a server that takes most of
//! its time to hear, plan and answer one statement does so once for many rows.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use backend_data::{
    ProjectRef, StoreError,
    store::{Answer, Place, Read},
};
use futures::future::join_all;
use tokio::sync::oneshot;

use super::{lookup, pool::Pool, run::Runner, stored::Stored};

/// What reads must have in common to be one statement: all but the id and how the row is written. Statements name the
/// schema of their project, so that the text tells projects apart too.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape(Arc<str>);

impl Shape {
    /// The shape of a read by id.
    fn of(read: &Read) -> Self {
        let others = read.params.get(1..).unwrap_or_default();
        Self(format!("{}\0{}\0{others:?}", read.version, read.sql).into())
    }
}

/// A read, and where its answer goes.
struct Waiting {
    read: Read,
    reply: oneshot::Sender<Result<Answer, StoreError>>,
}

/// The reads of one shape.
#[derive(Default)]
struct Group {
    /// How many statements are under way.
    trips: usize,
    waiting: Vec<Waiting>,
}

/// Gathers reads by id. A clone is the same.
#[derive(Clone, Default)]
pub(super) struct Lookups(Arc<Mutex<HashMap<Shape, Group>>>);

impl fmt::Debug for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").finish_non_exhaustive()
    }
}

impl Lookups {
    /// Runs a read by id, alone or with others.
    pub(super) async fn read(
        &self,
        (pool, project, stored): (&Pool, &ProjectRef, &Stored),
        limit: Option<&Arc<str>>,
        place: impl FnOnce() -> Place,
        read: Read,
    ) -> Result<Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let shape = Shape::of(&read);
        if let Some(boarding) = self.join(&shape, Waiting { read, reply }) {
            let trip = Trip {
                lookups: self.clone(),
                shape,
                pool: pool.clone(),
                project: project.clone(),
                limit: limit.cloned(),
                place: place(),
                stored: stored.clone(),
                over: false,
            };
            // On a task of its own: whoever began it may go away, and the others still wait.
            tokio::spawn(trip.run(boarding));
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Internal("a lookup was given up".into())))
    }

    /// Adds a read. What comes back is to be run at once: the first of its shape, or as many as fill a statement.
    fn join(&self, shape: &Shape, read: Waiting) -> Option<Vec<Waiting>> {
        match self.lock().entry(shape.clone()) {
            Entry::Vacant(group) => {
                group.insert(Group { trips: 1, waiting: Vec::new() });
                Some(vec![read])
            }
            Entry::Occupied(mut group) => {
                let group = group.get_mut();
                group.waiting.push(read);
                let full = group.waiting.len() >= lookup::MOST;
                group.trips += usize::from(full);
                full.then(|| std::mem::take(&mut group.waiting))
            }
        }
    }

    /// What goes next, when a statement has come back.
    fn next(&self, shape: &Shape) -> Option<Vec<Waiting>> {
        let mut groups = self.lock();
        let group = groups.get_mut(shape)?;
        if !group.waiting.is_empty() {
            return Some(std::mem::take(&mut group.waiting));
        }
        group.trips -= 1;
        if group.trips == 0 {
            groups.remove(shape);
        }
        None
    }

    /// A panic elsewhere leaves groups that are still whole: no change is left half done.
    fn lock(&self) -> MutexGuard<'_, HashMap<Shape, Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error that each read would meet alone too: of a catalog that has changed, and of a database that is away, locked or
/// slow, for which each would wait as long again.
fn fate_of_all(error: &StoreError) -> Option<Box<dyn Fn() -> StoreError + Send>> {
    match error {
        StoreError::Stale => Some(Box::new(|| StoreError::Stale)),
        StoreError::Timeout => Some(Box::new(|| StoreError::Timeout)),
        StoreError::Unavailable(cause) => {
            let cause = cause.to_string();
            Some(Box::new(move || StoreError::Unavailable(cause.clone().into())))
        }
        _ => None,
    }
}

/// Statements of one shape, one after the other, until nobody waits.
struct Trip {
    lookups: Lookups,
    shape: Shape,
    pool: Pool,
    project: ProjectRef,
    limit: Option<Arc<str>>,
    place: Place,
    stored: Stored,
    over: bool,
}

impl Drop for Trip {
    fn drop(&mut self) {
        // It panicked, or the process stops: those who wait are told rather than kept waiting for it.
        if !self.over {
            self.lookups.lock().remove(&self.shape);
        }
    }
}

impl Trip {
    async fn run(mut self, boarding: Vec<Waiting>) {
        let mut boarding = Some(boarding);
        while let Some(waiting) = boarding {
            self.answer(waiting).await;
            boarding = self.lookups.next(&self.shape);
        }
        self.over = true;
    }

    async fn answer(&self, mut waiting: Vec<Waiting>) {
        waiting.retain(|waiting| !waiting.reply.is_closed());
        let runner = Runner {
            pool: &self.pool,
            place: &self.place,
            project: &self.project,
            limit: self.limit.as_ref(),
            stored: &self.stored,
        };
        if waiting.len() > 1 {
            let reads: Vec<&Read> = waiting.iter().map(|waiting| &waiting.read).collect();
            match runner.look_up(&reads).await {
                Ok(answers) => {
                    for (waiting, answer) in waiting.into_iter().zip(answers) {
                        // Whoever asked may have gone away meanwhile.
                        drop(waiting.reply.send(answer));
                    }
                    return;
                }
                Err(error) => {
                    if let Some(of_each) = fate_of_all(&error) {
                        for waiting in waiting {
                            drop(waiting.reply.send(Err(of_each())));
                        }
                        return;
                    }
                }
            }
        }
        // The only one, or each by itself, since it may be the fault of one of them.
        let alone = waiting.into_iter().map(async |Waiting { read, reply }| {
            drop(reply.send(runner.read(&read).await));
        });
        join_all(alone).await;
    }
}
