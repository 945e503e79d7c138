//! Callers, handles and writers that go away.

use futures::{FutureExt as _, future::join_all};
use group_commit::{GroupCommit, WriterStopped};

use crate::memory_writer::{Fate, MemoryWriter, Op, Shared, start, submit};

#[tokio::test]
async fn an_operation_is_written_though_its_caller_is_gone() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    let mut gone = submit(&handle, 0, Fate::Good);
    assert!((&mut gone).now_or_never().is_none());
    drop(gone);
    let mut gone_and_bad = submit(&handle, 1, Fate::Bad);
    assert!((&mut gone_and_bad).now_or_never().is_none());
    drop(gone_and_bad);
    assert_eq!(submit(&handle, 2, Fate::Good).await, Ok(Ok(2)));
    assert_eq!(*shared.written.lock().unwrap(), [0, 2]);
}

#[tokio::test]
async fn the_writer_ends_once_the_handle_is_gone_and_everything_is_written() {
    let shared = Shared::running();
    let (handle, writer) = start(&shared);
    let mut waiting = join_all((0..200).map(|number| submit(&handle, number, Fate::Good)));
    assert!((&mut waiting).now_or_never().is_none());
    drop((handle, waiting));
    writer.await.unwrap();
    assert_eq!(shared.written.lock().unwrap().len(), 200);
}

#[tokio::test]
async fn a_thread_of_its_own_writes_and_ends_as_a_task_does() {
    let shared = Shared::running();
    let (handle, mut queues) = GroupCommit::<Op>::new(1);
    queues.remove(0).spawn_thread("writer", MemoryWriter(shared.clone())).unwrap();
    let handle = std::sync::Arc::new(handle);
    assert_eq!(submit(&handle, 0, Fate::Good).await, Ok(Ok(0)));
    assert_eq!(*shared.written.lock().unwrap(), [0]);
}

#[tokio::test]
async fn callers_learn_that_the_writer_ended() {
    let shared = Shared::paused();
    let (handle, writer) = start(&shared);
    let mut waiting = submit(&handle, 0, Fate::Good);
    assert!((&mut waiting).now_or_never().is_none());
    writer.abort();
    assert_eq!(waiting.await, Err(WriterStopped));
    assert_eq!(submit(&handle, 1, Fate::Good).await, Err(WriterStopped));
    assert!(shared.written.lock().unwrap().is_empty());
}
