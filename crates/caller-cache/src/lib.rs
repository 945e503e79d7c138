#![doc = include_str!("../README.md")]

mod caches;
mod caller_cache;
mod clock;
mod invalidations;
mod source;
mod view;

pub use caches::{CacheBounds, CachedRecord, Caches, DigestCache, KeyCache};
pub use caller_cache::{CallerCache, MAX_STALENESS, REFRESH_AFTER};
pub use clock::{MonotonicClock, ProcessClock};
pub use source::{ChangeSource, RecordedChange};
pub use view::CacheView;
