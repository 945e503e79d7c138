//! One SQLite file a project.
//!
//! All projects share a few threads. Readers and writers take from a queue each, in which projects take turns; half of the
//! readers work for one project at once, and one writer, which commits whatever is waiting in one transaction. Threads share
//! the files that are open.

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
use queue::{Priority, Queue};
use reader::{InlineReader, ReadTask};
use write_connections::WriteConnectionCache;
use writer::{ImportThreads, WriteTask};

/// Callers that look rows up by themselves at once, at most.
const MAX_INLINE_READERS: usize = 8;

/// How a [`SqliteRows`] works.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// Where the files are.
    pub directory: PathBuf,
    /// Threads that read, beside half as many of a low priority for projects whose statements take long.
    pub readers: usize,
    /// Threads that write, beside half as many of a low priority for projects whose statements take long.
    pub writers: usize,
    /// How many files all readers together keep open.
    pub max_open_files: usize,
    /// How many files are kept open for writing, times the writers.
    pub files_per_writer: usize,
    /// How many requests may wait for a thread before more are refused.
    pub max_queued: usize,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// How many kibibytes of pages an open file keeps in memory at most; a scan of a table that fits is about a
    /// third faster.
    pub cache_kib: u32,
    /// How many kibibytes SQLite may take in this process, roughly: beyond it, files keep fewer pages in memory.
    pub memory_kib: u32,
}

impl SqliteOptions {
    /// The usual options for files in `directory`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        Self {
            directory: directory.into(),
            // Half of the readers may work for one project, which is then no fewer than there are cores.
            readers: (2 * cores).clamp(4, 32),
            // They mostly wait for the disk.
            writers: (2 * cores).clamp(4, 16),
            max_open_files: 2048,
            files_per_writer: 64,
            max_queued: 4096,
            statement_timeout: Duration::from_secs(5),
            cache_kib: 8192,
            memory_kib: 256 * 1024,
        }
    }
}

/// What every thread knows.
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
        // The id's alphabet has no dot and no slash.
        self.options.directory.join(project.shard.to_string()).join(format!("{}.sqlite3", project.id))
    }
}

/// A store of one SQLite file a project.
///
/// One process owns the directory. Dropping the store waits until what is queued is done and the files are closed.
#[derive(Debug)]
pub struct SqliteRows {
    shared: Arc<SharedState>,
    inline_reader: InlineReader,
    threads: Vec<JoinHandle<()>>,
    reads: Arc<Queue<ReadTask>>,
    writes: Arc<Queue<WriteTask>>,
}

impl SqliteRows {
    /// Opens the store, making its directory where there is none.
    ///
    /// # Errors
    /// When the directory cannot be made or a thread cannot start.
    pub fn open(options: SqliteOptions) -> io::Result<Self> {
        create_durable_directory(&options.directory)?;
        limit_memory(options.memory_kib).map_err(io::Error::other)?;
        let shelf = ConnectionCache::new(options.max_open_files);
        let written = WriteConnectionCache::new(options.files_per_writer.saturating_mul(options.writers));
        let shared = Arc::new(SharedState {
            options,
            read_connections: shelf,
            write_connections: written,
            imports: ImportThreads::default(),
            pending_outboxes: outbox::PendingOutboxes::default(),
        });
        let options = &shared.options;
        let reads = Arc::new(Queue::new(options.max_queued, options.readers / 2));
        let writes = Arc::new(Queue::new(options.max_queued, 1));
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
        let (reply, answer) = oneshot::channel();
        self.reads.push(project, task(reply)).map_err(unavailable_error)?;
        answer.await.unwrap_or_else(|_| Err(internal_error("a reader gave no answer")))
    }

    async fn submit_write<T>(
        &self,
        project: &ProjectRef,
        task: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> WriteTask,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.writes.push(project, task(reply)).map_err(unavailable_error)?;
        answer.await.unwrap_or_else(|_| Err(internal_error("a writer gave no answer")))
    }
}

/// The threads of one kind, numbered: `normal` of them, and half as many of a low priority.
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
            // A thread that panicked has nothing left to finish.
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
            && let Some(answer) = self.inline_reader.try_read(&self.shared, project, &read)
        {
            return answer;
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
            let (reply, answer) = oneshot::channel();
            let (shared, thread) = (Arc::clone(&self.shared), thread::Builder::new());
            // Looking at many files takes a while, and nobody waits for it.
            let look = move || drop(reply.send(outbox::scan_files(&shared)));
            thread.name("rows-outboxes".to_owned()).spawn(look).map_err(unavailable_error)?;
            answer.await.unwrap_or_else(|_| Err(internal_error("the files were not looked at")))?;
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

/// Sets how much memory SQLite may take in this process before its caches give way.
fn limit_memory(kib: u32) -> rusqlite::Result<()> {
    let bytes = u64::from(kib) * 1024;
    // It answers with the limit that is now set.
    Connection::open_in_memory()?.query_row(&format!("PRAGMA soft_heap_limit = {bytes}"), [], |_| Ok(()))
}

/// Makes a directory and makes sure it is still there after a power cut.
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
