//! How many answers may be streamed at once. A visitor who reads slowly keeps a process from everybody else for as long
//! as an answer may take, and it costs the visitor nothing: so streams get half of the places of answers, and no
//! workspace all of that half.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::id::WorkspaceId;
use runs::share::may_take;

/// The places for streams of one engine.
#[derive(Debug)]
pub(crate) struct Streams {
    in_all: usize,
    taken: Mutex<HashMap<WorkspaceId, usize>>,
}

/// A place; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    streams: Arc<Streams>,
    workspace: WorkspaceId,
}

impl Streams {
    /// Half of the places of answers, and at least one.
    pub(crate) fn among(answers: usize) -> Self {
        Self { in_all: (answers / 2).max(1), taken: Mutex::default() }
    }

    /// A place, unless there is none left, or the workspace has its share.
    pub(crate) fn take(self: &Arc<Self>, workspace: WorkspaceId) -> Option<StreamPlace> {
        let mut taken = self.taken();
        let own = taken.get(&workspace).copied().unwrap_or_default();
        let free = self.in_all.saturating_sub(taken.values().sum());
        if !may_take(own, free) {
            return None;
        }
        taken.insert(workspace, own + 1);
        Some(StreamPlace { streams: Arc::clone(self), workspace })
    }

    /// A panic elsewhere leaves counts that are still whole: each change is one call.
    fn taken(&self) -> MutexGuard<'_, HashMap<WorkspaceId, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut taken = self.streams.taken();
        match taken.get_mut(&self.workspace) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.workspace)),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_workspace_leaves_places_to_others() {
        let streams = Arc::new(Streams::among(8));
        let [one, two, three] = [1, 2, 3].map(|number| Id::from_uuid(Uuid::from_u128(number)));
        let mut own: Vec<_> = (0..3).map(|_| streams.take(one).unwrap()).collect();
        assert!(streams.take(one).is_none());
        let other = streams.take(two).unwrap();
        assert!(streams.take(two).is_none(), "all four are taken");
        own.pop();
        assert!(streams.take(one).is_none(), "the last is for who has none");
        let third = streams.take(three).unwrap();
        drop((own, other, third));
        assert!(streams.taken().is_empty());
    }

    #[test]
    fn few_processes_stream_too() {
        for answers in [1, 2, 3] {
            let streams = Arc::new(Streams::among(answers));
            let place = streams.take(Id::from_uuid(Uuid::nil()));
            assert!(place.is_some() && streams.take(Id::from_uuid(Uuid::max())).is_none());
        }
    }
}
