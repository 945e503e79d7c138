//! Places for code at work. Runs, answers and checks have places apart, so that visitors keep no run waiting and runs
//! no visitor; and of each kind one workspace never has all, however long its code sleeps or computes.

use std::collections::HashMap;

use kernel::id::WorkspaceId;
use runs::share::may_take;

use super::queue::Queue;

/// What code is at work for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A run.
    Run,
    /// An answer over HTTP.
    Answer,
    /// A check of a bundle.
    Check,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Run, Self::Answer, Self::Check];
}

/// Whose code is at work, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Party {
    pub(super) workspace: WorkspaceId,
    pub(super) kind: Kind,
}

/// The places of one kind, and who waits for one.
pub(super) struct Places<T> {
    count: usize,
    taken: usize,
    held: HashMap<WorkspaceId, usize>,
    queue: Queue<T>,
}

impl<T> Places<T> {
    pub(super) fn new(count: usize) -> Self {
        Self { count, taken: 0, held: HashMap::new(), queue: Queue::default() }
    }

    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    fn held(&self, workspace: WorkspaceId) -> usize {
        self.held.get(&workspace).copied().unwrap_or_default()
    }

    /// Whether a place is free that the workspace may have.
    pub(super) fn may_take(&self, workspace: WorkspaceId) -> bool {
        may_take(self.held(workspace), self.count.saturating_sub(self.taken))
    }

    pub(super) fn take(&mut self, workspace: WorkspaceId) {
        self.taken += 1;
        *self.held.entry(workspace).or_default() += 1;
    }

    pub(super) fn give_back(&mut self, workspace: WorkspaceId) {
        if let Some(held) = self.held.get_mut(&workspace) {
            self.taken = self.taken.saturating_sub(1);
            *held -= 1;
            if *held == 0 {
                self.held.remove(&workspace);
            }
        }
    }

    /// Whether anybody waits.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Waits in turn; `false` when too many do, not counting those who are `gone`.
    pub(super) fn wait(
        &mut self,
        workspace: WorkspaceId,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        self.queue.push(workspace, item, (max, max_here), gone)
    }

    /// Who is next of those that may have a place; one that `releasing` has just given back stays with it rather than
    /// not.
    pub(super) fn next(&mut self, releasing: Option<WorkspaceId>) -> Option<(WorkspaceId, T)> {
        let Self { count, taken, held, queue } = self;
        let held = |workspace| held.get(&workspace).copied().unwrap_or_default();
        let free = count.saturating_sub(*taken);
        queue.pop(releasing, held, |workspace| may_take(held(workspace), free))
    }
}
