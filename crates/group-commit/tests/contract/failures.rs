//! Batches that cannot be written.

use futures::future::join_all;

use crate::memory_writer::{Fate, Shared, WriteError, start, submit};

#[tokio::test]
async fn one_that_cannot_be_written_spoils_no_other() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    let fate = |number| if number == 3 { Fate::Bad } else { Fate::Good };
    let results = join_all((0..10).map(|number| submit(&handle, number, fate(number)))).await;
    for (number, result) in (0..).zip(results) {
        assert_eq!(result, Ok(if number == 3 { Err(WriteError::Bad) } else { Ok(number) }));
    }
    assert_eq!(shared.batch_sizes(), [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(*shared.written.lock().unwrap(), [0, 1, 2, 4, 5, 6, 7, 8, 9]);
}

#[tokio::test]
async fn one_that_is_alone_is_tried_once() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    assert_eq!(submit(&handle, 0, Fate::Bad).await, Ok(Err(WriteError::Bad)));
    assert_eq!(shared.batch_sizes(), [1]);
}

#[tokio::test]
async fn the_rest_fails_at_once_when_the_database_is_unavailable() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    let fate = |number| match number {
        1 => Fate::Bad,
        3 => Fate::Unavailable,
        _ => Fate::Good,
    };
    let results = join_all((0..10).map(|number| submit(&handle, number, fate(number)))).await;
    assert_eq!(results[..3], [Ok(Ok(0)), Ok(Err(WriteError::Bad)), Ok(Ok(2))]);
    assert!(results[3..].iter().all(|result| *result == Ok(Err(WriteError::Unavailable))));
    assert_eq!(shared.batch_sizes(), [10, 1, 1, 1, 1], "the others are not tried");
    assert_eq!(submit(&handle, 10, Fate::Good).await, Ok(Ok(10)), "the next batch is");
}

/// A commit that was not confirmed may have been one: what it wrote must not be written again.
#[tokio::test]
async fn a_batch_that_the_database_does_not_take_is_not_tried_one_by_one() {
    let shared = Shared::running();
    let (handle, _writer) = start(&shared);
    let fate = |number| if number == 0 { Fate::Unavailable } else { Fate::Good };
    let results = join_all((0..10).map(|number| submit(&handle, number, fate(number)))).await;
    assert!(results.iter().all(|result| *result == Ok(Err(WriteError::Unavailable))));
    assert_eq!(shared.batch_sizes(), [10]);
}
