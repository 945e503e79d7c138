//! Waiting a moment for a process that is about to be free.
//!
//! Short code is run faster by a few processes in turn than by many at once: each process puts its memory back after
//! each invocation, and a processor's caches hold that of few. Code that waits for the outside keeps nobody waiting.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::places::Party;

/// An invocation that has gone on for less is taken to end soon, and is waited for as long.
pub(super) const SOON: Duration = Duration::from_millis(4);

/// Callers of one workspace that wait for a process about to be free, at most: more would not be served in that time,
/// and how many come is up to strangers.
const LINE: usize = 64;

/// Which processes have code at work since just now, and who waits for one of them.
pub(super) struct Handover<T> {
    /// As many as this at work for a workspace keep the processors busy.
    enough: usize,
    begun: Vec<Begun>,
    waiting: HashMap<Party, VecDeque<oneshot::Sender<T>>>,
    last: u64,
}

struct Begun {
    work: Work,
    party: Party,
    since: Instant,
}

/// The code of one invocation, as long as it waits for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work(u64);

impl<T> Handover<T> {
    pub(super) fn new(enough: usize) -> Self {
        Self { enough, begun: Vec::new(), waiting: HashMap::new(), last: 0 }
    }

    /// Notes that code begins.
    pub(super) fn begin(&mut self, party: Party, now: Instant) -> Work {
        self.last += 1;
        let work = Work(self.last);
        self.begun.push(Begun { work, party, since: now });
        work
    }

    /// Notes that it has ended, or waits for the outside.
    pub(super) fn end(&mut self, work: Work) {
        self.begun.retain(|begun| begun.work != work);
    }

    /// A turn at a process of the workspace, if enough of them are expected to be free soon.
    pub(super) fn wait(&mut self, party: Party, now: Instant) -> Option<oneshot::Receiver<T>> {
        let soon = |begun: &&Begun| begun.party == party && now.duration_since(begun.since) < SOON;
        if self.begun.iter().filter(soon).count() < self.enough {
            return None;
        }
        let line = self.waiting.entry(party).or_default();
        if line.len() >= LINE {
            return None;
        }
        let (turn, waiting) = oneshot::channel();
        line.push_back(turn);
        Some(waiting)
    }

    /// Who has waited the longest for a process of the workspace.
    pub(super) fn next(&mut self, party: Party) -> Option<oneshot::Sender<T>> {
        let line = self.waiting.get_mut(&party)?;
        let next = std::iter::from_fn(|| line.pop_front()).find(|turn| !turn.is_closed());
        if line.is_empty() {
            self.waiting.remove(&party);
        }
        next
    }

    /// Forgets those of a workspace who wait no more.
    pub(super) fn tidy(&mut self, party: Party) {
        if let Some(line) = self.waiting.get_mut(&party) {
            line.retain(|turn| !turn.is_closed());
            if line.is_empty() {
                self.waiting.remove(&party);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;
    use crate::pool::Kind;

    fn ws(number: u128) -> Party {
        Party { workspace: Id::from_uuid(Uuid::from_u128(number)), kind: Kind::Run }
    }

    #[test]
    fn nobody_waits_while_too_few_are_at_work() {
        let (mut handover, now) = (Handover::<()>::new(2), Instant::now());
        let first = handover.begin(ws(1), now);
        handover.begin(ws(2), now);
        assert!(handover.wait(ws(1), now).is_none());
        handover.begin(ws(1), now);
        assert!(handover.wait(ws(1), now).is_some());
        assert!(handover.wait(ws(2), now).is_none(), "another workspace has one at work");
        let answer = Party { kind: Kind::Answer, ..ws(1) };
        assert!(handover.wait(answer, now).is_none(), "its place is of another kind");
        handover.end(first);
        assert!(handover.wait(ws(1), now).is_none());
    }

    #[test]
    fn nobody_waits_for_long_code() {
        let (mut handover, now) = (Handover::<()>::new(1), Instant::now());
        handover.begin(ws(1), now);
        assert!(handover.wait(ws(1), now + SOON / 2).is_some());
        assert!(handover.wait(ws(1), now + SOON).is_none());
    }

    #[test]
    fn the_longest_wait_of_the_workspace_is_next() {
        let (mut handover, now) = (Handover::new(1), Instant::now());
        handover.begin(ws(1), now);
        let [gone, mut second, mut third] = [(); 3].map(|()| handover.wait(ws(1), now).unwrap());
        drop(gone);
        assert!(handover.next(ws(2)).is_none());
        handover.next(ws(1)).unwrap().send("second").unwrap();
        assert_eq!(second.try_recv(), Ok("second"));
        handover.next(ws(1)).unwrap().send("third").unwrap();
        assert_eq!(third.try_recv(), Ok("third"));
        assert!(handover.next(ws(1)).is_none() && handover.waiting.is_empty());
    }

    #[test]
    fn a_line_has_an_end() {
        let (mut handover, now) = (Handover::<()>::new(1), Instant::now());
        handover.begin(ws(1), now);
        handover.begin(ws(2), now);
        let line: Vec<_> = std::iter::from_fn(|| handover.wait(ws(1), now)).take(LINE + 1).collect();
        assert_eq!(line.len(), LINE);
        assert!(handover.wait(ws(2), now).is_some());
    }

    #[test]
    fn who_waits_no_more_is_forgotten() {
        let (mut handover, now) = (Handover::<()>::new(1), Instant::now());
        handover.begin(ws(1), now);
        drop(handover.wait(ws(1), now));
        handover.tidy(ws(1));
        assert!(handover.waiting.is_empty());
    }
}
