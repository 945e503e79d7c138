//! A flag for each page of some memory.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// Flags of pages. They are atomic because a signal handler sets them while the thread it interrupted may read them;
/// no other thread does either, so no ordering is needed.
pub(super) struct PageFlags(Box<[AtomicBool]>);

impl PageFlags {
    /// Flags for `count` pages, none of them set.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicBool::new(false)).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sets the flag of a page. Returns true if there is such a page and its flag was not set. May be called in a signal
    /// handler: it neither allocates nor locks.
    pub(super) fn set(&self, page: usize) -> bool {
        self.0.get(page).is_some_and(|flag| !flag.swap(true, Ordering::Relaxed))
    }

    /// Sets or clears all flags.
    pub(super) fn fill(&self, value: bool) {
        self.0.iter().for_each(|flag| flag.store(value, Ordering::Relaxed));
    }

    /// Returns the set pages in ascending ranges, each as long as possible.
    pub(super) fn set_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let mut next = 0;
        std::iter::from_fn(move || {
            let rest = self.0.get(next..)?;
            let start = next + rest.iter().position(is_set)?;
            let length = self.0[start..].iter().take_while(|flag| is_set(flag)).count();
            next = start + length;
            Some(start..next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_pages_are_told_in_ranges() {
        let flags = PageFlags::new(9);
        assert_eq!(flags.set_ranges().count(), 0);
        assert_eq!([8, 2, 1, 2, 4, 9].map(|page| flags.set(page)), [true, true, true, false, true, false]);
        assert_eq!(flags.set_ranges().collect::<Vec<_>>(), [1..3, 4..5, 8..9]);
        flags.fill(true);
        assert_eq!(flags.set_ranges().collect::<Vec<_>>(), std::slice::from_ref(&(0..9)));
        assert_eq!(flags.len(), 9);
        flags.fill(false);
        assert_eq!(flags.set_ranges().count(), 0);
    }

    #[test]
    fn memory_without_pages_has_no_ranges() {
        let flags = PageFlags::new(0);
        assert!(!flags.set(0));
        assert_eq!(flags.set_ranges().count(), 0);
    }
}
