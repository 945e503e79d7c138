//! Any operations, by any keys, on any number of writers.

use std::sync::Arc;

use futures::{FutureExt as _, future::join_all};
use group_commit::GroupCommit;
use proptest::prelude::*;

use crate::memory_writer::{Fate, Shared, WriteError, run, submit_by};

/// An operation: its key, whether it is good, and whether its caller waits for it.
type Submission = (u8, bool, bool);

fn submissions() -> impl Strategy<Value = Vec<Submission>> {
    prop::collection::vec((0..5_u8, prop::bool::weighted(0.9), prop::bool::weighted(0.8)), 0..400)
}

proptest! {
    #[test]
    fn each_has_its_own_result_and_is_written_once_in_the_order_of_its_key(
        submissions in submissions(),
        writers in 1..4_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let written = runtime.block_on(submit_all(&submissions, writers));
        for key in 0..5 {
            let expected: Vec<u32> = (0..)
                .zip(&submissions)
                .filter(|(_, (of, is_good, _))| *of == key && *is_good)
                .map(|(number, _)| number)
                .collect();
            let of_key = |writer: &Vec<u32>| -> Vec<u32> {
                writer.iter().copied().filter(|number| submissions[*number as usize].0 == key).collect()
            };
            let found: Vec<Vec<u32>> = written.iter().map(of_key).filter(|it| !it.is_empty()).collect();
            prop_assert!(found.len() <= 1, "one writer has all of a key");
            prop_assert_eq!(found.concat(), expected);
        }
    }
}

/// Submits everything at once; returns what each writer wrote.
async fn submit_all(submissions: &[Submission], writers: usize) -> Vec<Vec<u32>> {
    let (handle, queues) = GroupCommit::new(writers);
    let handle = Arc::new(handle);
    let mut running = Vec::new();
    for queue in queues {
        let shared = Shared::running();
        running.push((run(queue, &shared), shared));
    }
    let mut waiting = Vec::new();
    for (number, (key, is_good, waits)) in (0..).zip(submissions) {
        let fate = if *is_good { Fate::Good } else { Fate::Bad };
        let mut result = submit_by(&handle, *key, number, fate);
        assert!((&mut result).now_or_never().is_none());
        if *waits {
            waiting.push(async move { (number, *is_good, result.await) });
        }
    }
    for (number, is_good, result) in join_all(waiting).await {
        assert_eq!(result, Ok(if is_good { Ok(number) } else { Err(WriteError::Bad) }));
    }
    drop(handle);
    let mut written = Vec::new();
    for (task, shared) in running {
        task.await.unwrap();
        written.push(shared.written.lock().unwrap().clone());
    }
    written
}
