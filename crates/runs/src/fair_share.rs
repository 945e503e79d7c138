//! The share of a common resource that one person, or one workspace, may hold.
//!
//! The limit depends on what is free (a dynamic threshold, as switches use for shared buffers): who is alone gets about
//! three quarters, each of several gets less, and something stays free for a newcomer. The rule needs no list of the
//! others.
//! See `docs/decisions/0110-share-worker-slots-by-workspace.md`.

mod searches;
mod semaphore;

pub use searches::search_turns;
pub use semaphore::{FairPermit, FairSemaphore, ShareLimits, TooManyWaiting};

/// Ratio of what a share may hold to what stays free.
const WEIGHT: usize = 3;

/// Returns true if a share that holds `held` units may acquire another while `free` are free.
///
/// One that holds none may acquire the last.
#[must_use]
pub fn can_acquire(held: usize, free: usize) -> bool {
    free > 0 && (held == 0 || held < WEIGHT.saturating_mul(free - 1))
}

/// Returns the number of units that a share that holds `held` may still acquire while `free` are free.
#[must_use]
pub fn remaining_share(held: usize, free: usize) -> usize {
    (0..free).take_while(|more| can_acquire(held + more, free - more)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_workspace_never_holds_all_of_several() {
        for (units, most) in
            [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (6, 4), (8, 6), (12, 9), (16, 12), (72, 54)]
        {
            assert_eq!(remaining_share(0, units), most, "of {units}");
        }
    }

    #[test]
    fn workspaces_that_want_all_come_to_hold_as_much_as_each_other() {
        for (workspaces, each) in [(1, 6), (2, 3), (3, 2), (5, 1), (8, 1)] {
            // As units come free one after the other, the workspace that holds the fewest acquires first.
            let mut held = vec![0; workspaces];
            held[0] = 6;
            for _ in 0..100 {
                held[0] -= usize::from(held[0] > each);
                held.sort_unstable();
                for index in 0..workspaces {
                    let free = 8 - held.iter().sum::<usize>();
                    held[index] += usize::from(can_acquire(held[index], free));
                }
                held.sort_unstable_by(|a, b| b.cmp(a));
            }
            assert!(held.iter().all(|holds| *holds >= 1), "{held:?}");
            assert!(held.iter().sum::<usize>() <= 8 && held[0] <= each + 2, "{held:?}");
        }
    }

    #[test]
    fn a_newcomer_gets_a_unit_beside_one_that_wants_all() {
        let free = 8 - remaining_share(0, 8);
        assert!(can_acquire(0, free));
    }
}
