//! A store with one SQLite file per project.
//!
//! All projects share a few threads and the files that these have open. Readers and writers have a queue each, in which
//! shares ([`ProjectRef::share`]) take turns, and the projects of one share. At most half of the threads work for one share
//! at a time, and one writer for a project; it commits everything that is waiting for the project in one transaction.

mod capacity;
mod connection;
mod connection_cache;
mod execute;
mod functions;
mod like;
mod outbox;
mod pattern;
mod priority;
mod queue;
mod reader;
mod write_connections;
mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError,
    store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
};
use futures::channel::oneshot;
use rusqlite::Connection;

use connection_cache::ConnectionCache;
use queue::{Priority, Queue, QueueLimits};
use reader::{InlineReader, ReadTask};
use write_connections::WriteConnectionCache;
use writer::{ImportThreads, WriteTask};

/// Maximum number of callers that look up rows on their own threads at once.
const MAX_INLINE_READERS: usize = 8;

/// Options of a [`SqliteRows`].
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The directory of the files. One process owns it.
    pub directory: PathBuf,
    /// Number of threads that read; twice the cores by default, 4 to 32. Half as many run at a low priority in
    /// addition, for projects whose statements take long.
    pub readers: usize,
    /// Number of threads that write; four times the cores by default, 8 to 32. Half as many run at a low priority in
    /// addition, for projects whose statements take long.
    pub writers: usize,
    /// Maximum number of idle connections that are kept open for reading; 2,048 by default.
    pub max_open_files: usize,
    /// Maximum number of files that are kept open for writing, per writer; 64 by default.
    pub files_per_writer: usize,
    /// Maximum number of requests that wait for a thread of either kind or that it has taken, half of them of one share;
    /// 4,096 by default. More are [`StoreError::Unavailable`].
    pub max_queued: usize,
    /// Time limit of a statement, and of the statements of a batch together; 5 seconds by default.
    pub statement_timeout: Duration,
    /// Maximum size of the page cache of an open file in KiB; 8 MiB by default. A scan of a table that fits is about a
    /// third faster.
    pub cache_kib: u32,
    /// Soft limit of the memory that SQLite uses in this process, in KiB; 256 MiB by default. Beyond it, caches shrink.
    pub memory_kib: u32,
}

impl SqliteOptions {
    /// Creates the default options for files in `directory`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        Self {
            directory: directory.into(),
            // Half of the readers may work for one share, so that it can use every core.
            readers: (2 * cores).clamp(4, 32),
            // Half of the writers as well, and they mostly wait for the disk.
            writers: (4 * cores).clamp(8, 32),
            max_open_files: 2048,
            files_per_writer: 64,
            max_queued: 4096,
            statement_timeout: Duration::from_secs(5),
            cache_kib: 8192,
            memory_kib: 256 * 1024,
        }
    }
}

/// The state that all threads share.
#[derive(Debug)]
struct SharedState {
    options: SqliteOptions,
    read_connections: ConnectionCache,
    write_connections: WriteConnectionCache,
    imports: ImportThreads,
    pending_outboxes: outbox::PendingOutboxes,
}

impl SharedState {
    fn path(&self, project: &ProjectRef) -> PathBuf {
        // An id has no dot and no slash, so the path stays inside the directory.
        self.options.directory.join(project.shard.to_string()).join(format!("{}.sqlite3", project.id))
    }
}

/// A store with one SQLite file per project: `{directory}/{shard}/{project}.sqlite3`.
///
/// One process owns the directory. Writes are durable when they return (WAL with `synchronous = FULL`). Dropping the
/// store blocks until all queued work is done and the files are closed.
#[derive(Debug)]
pub struct SqliteRows {
    shared: Arc<SharedState>,
    inline_reader: InlineReader,
    threads: Vec<JoinHandle<()>>,
    reads: Arc<Queue<ReadTask>>,
    writes: Arc<Queue<WriteTask>>,
}

impl SqliteRows {
    /// Opens the store and starts its threads. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// If the directory cannot be created or a thread cannot be started.
    pub fn open(options: SqliteOptions) -> io::Result<Self> {
        create_durable_directory(&options.directory)?;
        limit_memory(options.memory_kib).map_err(io::Error::other)?;
        let max_written_files = options.files_per_writer.saturating_mul(options.writers);
        let shared = Arc::new(SharedState {
            read_connections: ConnectionCache::new(options.max_open_files),
            write_connections: WriteConnectionCache::new(max_written_files),
            options,
            imports: ImportThreads::default(),
            pending_outboxes: outbox::PendingOutboxes::default(),
        });
        let options = &shared.options;
        let limits = |threads_per_share, threads_per_project| QueueLimits {
            capacity: options.max_queued,
            threads_per_share,
            threads_per_project,
        };
        let reads = Arc::new(Queue::new(limits(options.readers / 2, options.readers / 2)));
        let writes = Arc::new(Queue::new(limits(options.writers / 2, 1)));
        let callers = thread::available_parallelism().map_or(2, usize::from).min(MAX_INLINE_READERS);
        let mut store = Self {
            shared: Arc::clone(&shared),
            inline_reader: InlineReader::new(callers),
            threads: Vec::new(),
            reads: reads.clone(),
            writes: writes.clone(),
        };
        for (number, priority) in thread_priorities(options.readers) {
            let (shared, reads) = (shared.clone(), reads.clone());
            let thread = thread::Builder::new().name(format!("rows-read-{number}"));
            store.threads.push(thread.spawn(move || {
                priority::set_thread_priority(priority);
                reader::run_reader(&shared, &reads, priority);
            })?);
        }
        for (number, priority) in thread_priorities(options.writers) {
            let (shared, writes) = (shared.clone(), writes.clone());
            let thread = thread::Builder::new().name(format!("rows-write-{number}"));
            store.threads.push(thread.spawn(move || {
                priority::set_thread_priority(priority);
                writer::run_writer(&shared, &writes, priority);
            })?);
        }
        Ok(store)
    }

    async fn submit_read<T>(
        &self,
        project: &ProjectRef,
        task: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> ReadTask,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        self.reads.push(project, task(reply)).map_err(unavailable_error)?;
        result.await.unwrap_or_else(|_| Err(internal_error("a reader returned no result")))
    }

    async fn submit_write<T>(
        &self,
        project: &ProjectRef,
        task: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> WriteTask,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        self.writes.push(project, task(reply)).map_err(unavailable_error)?;
        result.await.unwrap_or_else(|_| Err(internal_error("a writer returned no result")))
    }
}

/// Returns the numbers and priorities of the threads of one kind: `normal` ones, and half as many of low priority.
fn thread_priorities(normal: usize) -> impl Iterator<Item = (usize, Priority)> {
    let normal = normal.max(1);
    let low = normal.div_ceil(2);
    (0..normal + low)
        .map(move |number| (number, if number < normal { Priority::Normal } else { Priority::Low }))
}

impl Drop for SqliteRows {
    fn drop(&mut self) {
        self.reads.close();
        self.writes.close();
        for thread in self.threads.drain(..) {
            // An error means that the thread panicked, and has nothing left to finish.
            let _ = thread.join();
        }
        self.shared.imports.join();
    }
}

#[async_trait]
impl RowStore for SqliteRows {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn table_scope(&self, _: &ProjectRef) -> TableScope {
        TableScope { prefix: String::new(), schema_version_check: None }
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.submit_write(project, WriteTask::Create).await
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.submit_write(project, WriteTask::Drop).await
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.submit_read(project, ReadTask::Catalog).await
    }

    async fn apply_schema_change(
        &self,
        project: &ProjectRef,
        change: SchemaChange,
    ) -> Result<(), StoreError> {
        self.submit_write(project, |reply| WriteTask::Schema(Box::new(change), reply)).await
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
        if read.id_placeholder.is_some()
            && read.is_plain
            && let Some(result) = self.inline_reader.try_read(&self.shared, project, &read)
        {
            return result;
        }
        self.submit_read(project, |reply| ReadTask::Rows(Box::new(read), reply)).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError> {
        self.submit_write(project, |reply| WriteTask::Rows(Box::new(write), reply)).await
    }

    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError> {
        self.submit_write(project, |reply| WriteTask::Batch(writes, reply)).await
    }

    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        self.submit_write(project, |reply| WriteTask::Import(Box::new(import), reply)).await
    }

    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.submit_write(project, WriteTask::StoredBytes).await
    }

    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        if self.shared.pending_outboxes.needs_scan() {
            let (reply, result) = oneshot::channel();
            let (shared, thread) = (Arc::clone(&self.shared), thread::Builder::new());
            // Many files take a while to scan, and readers have requests to serve meanwhile.
            let scan = move || drop(reply.send(outbox::scan_files(&shared)));
            thread.name("rows-outboxes".to_owned()).spawn(scan).map_err(unavailable_error)?;
            result
                .await
                .unwrap_or_else(|_| Err(internal_error("the scan of the outboxes returned no result")))?;
        }
        Ok(self.shared.pending_outboxes.all())
    }

    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        self.submit_write(project, WriteTask::Outbox).await
    }

    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        self.submit_write(project, |reply| WriteTask::ClearOutbox(ids, reply)).await
    }
}

/// Sets the soft limit of the memory that SQLite uses in this process.
fn limit_memory(kib: u32) -> rusqlite::Result<()> {
    let bytes = u64::from(kib) * 1024;
    // The pragma returns a row with the new limit.
    Connection::open_in_memory()?.query_row(&format!("PRAGMA soft_heap_limit = {bytes}"), [], |_| Ok(()))
}

/// Creates a directory and syncs it and its parent, so that it survives a power failure.
fn create_durable_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    std::fs::File::open(path)?.sync_all()?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::File::open(parent)?.sync_all()?;
    }
    Ok(())
}

fn internal_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Internal(error.into())
}

fn unavailable_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Unavailable(error.into())
}
