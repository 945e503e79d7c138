#![doc = include_str!("../README.md")]

mod checkpointer;
mod fsync_queue;
mod op_queue;
mod wal_file;
mod writer;

pub use checkpointer::{CheckpointThresholds, Checkpointer, Wal, WalPages};
pub use fsync_queue::{DurabilityWaiter, FsyncQueue, SyncFailed, SyncHealth};
pub use op_queue::{GroupCommit, MAX_BATCH_OPS, OpQueue, QUEUE_CAPACITY, Reply, WriterStopped};
pub use wal_file::WalFile;
pub use writer::BatchWriter;
