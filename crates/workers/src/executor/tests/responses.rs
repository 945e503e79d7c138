//! Log lines of visits: what is kept, and when.

use std::sync::Mutex;

use runs::engine::{Host, HttpResponse};

use super::{super::*, fixtures::*};

#[tokio::test]
async fn a_visit_leaves_its_lines_in_the_log() {
    let store = FakeStore::default();
    let kept = store.kept_lines();
    let executor = executor(store, async |invocation: Invocation, host: Arc<dyn Host>| {
        let HandlerCall::Fetch(request) = invocation.handler else { panic!("not a request") };
        host.log(engine::LogLevel::Warn, "asked".into());
        if request.method == "POST" {
            return Err(fail(FailureCode::AppError, "main.js:1: no"));
        }
        Ok(HandlerOutput::Response(HttpResponse { status: 201, headers: Vec::new(), body: request.body }))
    });
    let serve = async |method, version: VersionId| {
        executor.serve(id(1), id(2), version, visit(method, "https://notes.example.com/")).await
    };
    let response = serve("GET", id(3)).await.unwrap();
    assert!(
        matches!(response, runs::serve::AppResponse::Buffered(HttpResponse { status: 201, .. })),
        "{response:?}"
    );
    assert_eq!(serve("POST", id(3)).await.unwrap_err().code, FailureCode::AppError);
    executor.flush().await;
    let expected = [
        (LogSource::App, "asked".to_owned()),
        (LogSource::App, "asked".to_owned()),
        (LogSource::Platform, "app_error: main.js:1: no".to_owned()),
    ];
    let mut kept = kept.lock().unwrap().clone();
    kept.sort_by_key(|(source, _)| *source);
    assert_eq!(kept, expected);
}

fn messages(kept: &KeptLines) -> Vec<String> {
    kept.lock().unwrap().iter().map(|(_, message)| message.clone()).collect()
}

#[tokio::test]
async fn a_streamed_response_leaves_its_lines_at_its_end() {
    let store = FakeStore::default();
    let kept = store.kept_lines();
    let (ends, end) = tokio::sync::oneshot::channel();
    let end = Mutex::new(Some(end));
    let executor = executor(store, move |_, host: Arc<dyn Host>| {
        let end = end.lock().unwrap().take().unwrap();
        async move {
            host.log(engine::LogLevel::Info, "begun".into());
            let end = async move {
                let result = end.await.unwrap();
                host.log(engine::LogLevel::Info, "late".into());
                result
            };
            let body = Box::pin(futures::stream::empty());
            Ok(HandlerOutput::Streamed(StreamedResponse {
                status: 200,
                headers: Vec::new(),
                body,
                completion: Box::pin(end),
            }))
        }
    });
    let request = visit("GET", "https://notes.example.com/");
    let response = executor.serve(id(1), id(2), id(3), request).await.unwrap();
    // The visitor disconnects, and the code goes on.
    drop(response);
    assert!(kept.lock().unwrap().is_empty());
    ends.send(Err(fail(FailureCode::Timeout, "too long"))).unwrap();
    executor.flush().await;
    assert_eq!(messages(&kept), ["begun", "late", "timeout: too long"]);
}

#[tokio::test]
async fn a_shutdown_cuts_streamed_responses_off_and_keeps_their_lines() {
    let store = FakeStore::default();
    let kept = store.kept_lines();
    let executor = executor(store, async |_, host: Arc<dyn Host>| {
        host.log(engine::LogLevel::Info, "begun".into());
        let (body, completion) = (Box::pin(futures::stream::pending()), Box::pin(std::future::pending()));
        Ok(HandlerOutput::Streamed(StreamedResponse { status: 200, headers: Vec::new(), body, completion }))
    });
    let request = visit("GET", "https://notes.example.com/");
    let _response = executor.serve(id(1), id(2), id(3), request).await.unwrap();
    executor.cancel_streams();
    executor.flush().await;
    assert_eq!(messages(&kept), ["begun", "overloaded: the server shut down before the response ended"]);
}

/// Long lines of any script are kept up to a bound, and the last line counts those that were not.
#[tokio::test]
async fn a_visit_leaves_a_bounded_log() {
    for text in ["x", "é", "语"] {
        let store = FakeStore::default();
        let kept = store.kept_lines();
        let executor = executor(store, move |_, host: Arc<dyn Host>| async move {
            for _ in 0..1000 {
                host.log(engine::LogLevel::Info, text.repeat(2000));
            }
            host.log(engine::LogLevel::Info, "short".into());
            Ok(HandlerOutput::Response(HttpResponse {
                status: 200,
                headers: Vec::new(),
                body: Default::default(),
            }))
        });
        executor.serve(id(1), id(2), id(3), visit("GET", "https://notes.example.com/")).await.unwrap();
        executor.flush().await;
        let kept = messages(&kept);
        let bytes: usize = kept.iter().map(String::len).sum();
        let lines = (64 << 10) / (2000 * text.len());
        assert_eq!((kept.len(), bytes < (65 << 10)), (lines + 1, true), "{text}");
        let last = kept.last().unwrap();
        assert!(
            last.starts_with(&format!("at least {} more log lines were dropped", 1001 - lines)),
            "{last}"
        );
    }
}
