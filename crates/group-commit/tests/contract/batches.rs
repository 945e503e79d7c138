//! Composition and order of batches.

use std::sync::Arc;

use futures::{
    FutureExt as _,
    future::{join, join_all},
};
use group_commit::{GroupCommit, MAX_BATCH_OPS, QUEUE_CAPACITY};

use crate::memory_writer::{Fate, Shared, run, start, submit, submit_by};

#[tokio::test]
async fn what_waits_together_is_written_together_and_in_order() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    let results = join_all((0..300).map(|number| submit(&handle, number, Fate::Good))).await;
    assert_eq!(results, (0..300).map(|number| Ok(Ok(number))).collect::<Vec<_>>());
    assert_eq!(shared.batch_sizes(), [MAX_BATCH_OPS, MAX_BATCH_OPS, 300 - 2 * MAX_BATCH_OPS]);
    assert_eq!(*shared.written.lock().unwrap(), (0..300).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_comes_during_a_write_is_the_next_batch() {
    let shared = Shared::paused();
    let (handle, _writer) = start(&shared);
    let mut first = submit(&handle, 0, Fate::Good);
    assert!((&mut first).now_or_never().is_none());
    shared.begun.acquire().await.unwrap().forget();
    let mut next = join_all((1..10).map(|number| submit(&handle, number, Fate::Good)));
    assert!((&mut next).now_or_never().is_none());
    shared.permits.add_permits(2);
    assert_eq!(first.await, Ok(Ok(0)));
    assert_eq!(next.await, (1..10).map(|number| Ok(Ok(number))).collect::<Vec<_>>());
    assert_eq!(shared.batch_sizes(), [1, 9]);
}

#[tokio::test]
async fn a_key_always_has_the_same_writer() {
    let (handle, queues) = GroupCommit::new(4);
    let handle = Arc::new(handle);
    let writers: Vec<_> = queues
        .into_iter()
        .map(|queue| {
            let shared = Shared::running();
            (run(queue, &shared), shared).1
        })
        .collect();
    // The key is the number's last digit.
    let ops = (0..1000_u32).map(|number| submit_by(&handle, (number % 10) as u8, number, Fate::Good));
    let results = join_all(ops).await;
    assert!(results.iter().all(|result| matches!(result, Ok(Ok(_)))));
    for key in 0..10 {
        let of_key: Vec<Vec<u32>> = writers
            .iter()
            .map(|shared| {
                shared.written.lock().unwrap().iter().copied().filter(|it| it % 10 == key).collect()
            })
            .filter(|numbers: &Vec<u32>| !numbers.is_empty())
            .collect();
        assert_eq!(
            of_key,
            [(0..100).map(|tens| tens * 10 + key).collect::<Vec<_>>()],
            "in order, by one writer"
        );
    }
    assert!(writers.iter().filter(|shared| !shared.written.lock().unwrap().is_empty()).count() > 1);
}

#[tokio::test]
async fn a_full_queue_holds_up_only_the_keys_of_its_writer() {
    let (handle, queues) = GroupCommit::new(2);
    let handle = Arc::new(handle);
    let shared = [Shared::paused(), Shared::paused()];
    // Nobody works the queues off yet.
    let busy = submit_by(&handle, 0, 0, Fate::Good);
    let mut full =
        join_all((1..=QUEUE_CAPACITY as u32).map(|number| submit_by(&handle, 0, number, Fate::Good)));
    let mut busy = Box::pin(join(busy, &mut full));
    assert!((&mut busy).now_or_never().is_none());
    for (queue, shared) in queues.into_iter().zip(&shared) {
        run(queue, shared);
    }
    let other_key = (1..=u8::MAX).find(|key| writer_of(*key) != writer_of(0)).unwrap();
    shared.iter().for_each(|shared| shared.permits.add_permits(1));
    assert_eq!(submit_by(&handle, other_key, 7, Fate::Good).await, Ok(Ok(7)));
    assert!((&mut busy).now_or_never().is_none(), "one batch is not all of the queue");
    shared.iter().for_each(|shared| shared.permits.add_permits(100));
    let (first, rest) = busy.await;
    assert_eq!(first, Ok(Ok(0)));
    assert_eq!(rest.len(), QUEUE_CAPACITY);
    assert!(rest.iter().all(|result| matches!(result, Ok(Ok(_)))));
}

/// The writer of a key among two, by the hash that the handle uses too.
fn writer_of(key: u8) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};

    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() % 2
}
