//! Replies and the disk.

use futures::{FutureExt as _, future::join_all};
use group_commit::SyncFailed;

use crate::memory_writer::{Fate, Shared, WriteError, start, submit};

#[tokio::test]
async fn callers_are_replied_once_it_is_durable_and_batches_go_on_meanwhile() {
    let shared = Shared::running();
    *shared.waiters.lock().unwrap() = Some(Vec::new());
    let (handle, _writer) = start(&shared);
    let take_waiter = || shared.waiters.lock().unwrap().as_mut().unwrap().pop();
    let mut results = Vec::new();
    for batch in 0..2 {
        let mut result = join_all([0, 1].map(|it| submit(&handle, batch * 2 + it, Fate::Good)));
        let waiter = loop {
            assert!((&mut result).now_or_never().is_none(), "nothing is durable yet");
            tokio::task::yield_now().await;
            if let Some(waiter) = take_waiter() {
                break waiter;
            }
        };
        results.push((result, waiter));
    }
    assert_eq!(shared.batch_sizes(), [2, 2], "the second was written before the first was durable");
    let (second, second_waiter) = results.pop().unwrap();
    let (mut first, first_waiter) = results.pop().unwrap();
    assert!((&mut first).now_or_never().is_none());
    first_waiter(Ok(()));
    assert_eq!(first.await, [Ok(Ok(0)), Ok(Ok(1))]);
    second_waiter(Err(SyncFailed));
    assert_eq!(second.await, [Ok(Err(WriteError::NotDurable)); 2]);
}
