//! Row ids: UUIDs of version 7 (RFC 9562, section 5.7) that rise within an engine, so that rows inserted together keep
//! their order.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{Random, timestamp::Micros};

pub(super) struct RowIdGenerator {
    random: Arc<dyn Random>,
    /// The 60 bits of time of the last id: 48 of milliseconds, 12 of a fraction of one.
    last: AtomicU64,
}

impl RowIdGenerator {
    pub(super) fn new(random: Arc<dyn Random>) -> Self {
        Self { random, last: AtomicU64::new(0) }
    }

    pub(super) fn next(&self, now: Micros) -> String {
        let micros = u64::try_from(now.get()).unwrap_or(0);
        let now = ((micros / 1000) << 12) | ((micros % 1000) * 4096 / 1000);
        let step = |last: u64| Some(now.max(last + 1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap_or(0);
        let time = now.max(last + 1);
        let mut low = [0; 8];
        self.random.fill(&mut low);
        let high = ((time >> 12) << 16) | 0x7000 | (time & 0xfff);
        let low = (u64::from_be_bytes(low) >> 2) | (1 << 63);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}
