//! Metrics of visits and of attempts.

use std::{sync::Mutex, time::Duration};

use observability::metrics::{AttemptEnding, RequestEnding, Workload};
use runs::engine::{ApprovalQuestion, Host, HttpResponse};

use super::{super::*, fixtures::*};

const MILLI: Duration = Duration::from_millis(1);

fn visit_ended(duration: Duration, ending: RequestEnding) -> Measurement {
    Measurement::Request { ending, duration }
}

fn attempt(ending: AttemptEnding, duration: impl Into<Option<Duration>>) -> Measurement {
    Measurement::Attempt { ending, duration: duration.into() }
}

fn cpu_time(workload: Workload, used: Duration) -> Measurement {
    Measurement::CpuTime { workload, used }
}

fn response(status: u16) -> Result<HandlerOutput, Failure> {
    Ok(HandlerOutput::Response(HttpResponse { status, headers: Vec::new(), body: Default::default() }))
}

async fn serve(executor: &Executor, method: &str) -> Result<AppResponse, Failure> {
    executor.serve(id(1), id(2), id(3), visit(method, "https://notes.example.com/")).await
}

/// A failure counts as its visitor sees it.
#[tokio::test(start_paused = true)]
async fn a_visit_is_measured_once() {
    let fixture = Fixture::default();
    let executor =
        fixture.executor(FakeStore::default(), async |invocation: Invocation, host: Arc<dyn Host>| {
            let HandlerCall::Fetch(request) = invocation.handler else { panic!("not a request") };
            tokio::time::sleep(40 * MILLI).await;
            host.record_cpu_time(3 * MILLI);
            match request.method.as_str() {
                "GET" => response(200),
                "PUT" => response(404),
                "POST" => response(503),
                "PATCH" => Err(fail(FailureCode::HandlerMissing, "none")),
                "DELETE" => Err(fail(FailureCode::Overloaded, "too much")),
                _ => Ok(HandlerOutput::Response(HttpResponse {
                    status: 200,
                    headers: vec![("x".to_owned(), "y".repeat(20_000))],
                    body: Default::default(),
                })),
            }
        });
    use RequestEnding::{Failed, NoHandler, Responded};
    for (method, ending) in [
        ("GET", Responded),
        ("PUT", Responded),
        ("POST", Failed),
        ("PATCH", NoHandler),
        ("DELETE", Failed),
        ("LARGE", Failed),
    ] {
        let _response = serve(&executor, method).await;
        let expected = [cpu_time(Workload::Request, 3 * MILLI), visit_ended(40 * MILLI, ending)];
        assert_eq!(fixture.metrics.take(), expected, "{method}");
    }
    // A version that is gone, and one that cannot be read.
    let other = fixture.executor(FakeStore::default(), async |_, _| response(200));
    let visitor = visit("GET", "https://notes.example.com/");
    other.serve(id(1), id(2), id(30), visitor).await.unwrap_err();
    assert_eq!(fixture.metrics.take(), [visit_ended(Duration::ZERO, Failed)]);
    let unavailable = fixture.executor(FakeStore::unavailable(), async |_, _| response(200));
    serve(&unavailable, "GET").await.unwrap_err();
    assert_eq!(fixture.metrics.take(), [visit_ended(Duration::ZERO, Failed)]);
}

#[tokio::test(start_paused = true)]
async fn a_visitor_who_goes_away_had_no_response() {
    let fixture = Fixture::default();
    let executor = fixture.executor(FakeStore::default(), async |_, _| {
        tokio::time::sleep(Duration::from_secs(9)).await;
        response(200)
    });
    assert!(tokio::time::timeout(70 * MILLI, serve(&executor, "GET")).await.is_err());
    assert_eq!(fixture.metrics.take(), [visit_ended(70 * MILLI, RequestEnding::Failed)]);
}

#[tokio::test(start_paused = true)]
async fn a_streamed_response_is_measured_at_its_end() {
    use RequestEnding::{Failed, Responded};
    for (status, result, ending) in [
        (200, Ok(()), Responded),
        (500, Ok(()), Failed),
        (200, Err(fail(FailureCode::Timeout, "too long")), Failed),
    ] {
        let fixture = Fixture::default();
        let result = Mutex::new(Some(result));
        let executor = fixture.executor(FakeStore::default(), move |_, host: Arc<dyn Host>| {
            let result = result.lock().unwrap().take().unwrap();
            async move {
                let completion = Box::pin(async move {
                    tokio::time::sleep(500 * MILLI).await;
                    host.record_cpu_time(MILLI);
                    result
                });
                let body = Box::pin(futures::stream::empty());
                Ok(HandlerOutput::Streamed(StreamedResponse {
                    status,
                    headers: Vec::new(),
                    body,
                    completion,
                }))
            }
        });
        // The visitor reads nothing of it.
        drop(serve(&executor, "GET").await.unwrap());
        assert_eq!(fixture.metrics.take(), []);
        executor.flush().await;
        let expected = [cpu_time(Workload::Request, MILLI), visit_ended(500 * MILLI, ending)];
        assert_eq!(fixture.metrics.take(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_of_a_run_is_measured_once() {
    let fixture = Fixture::default();
    let executor =
        fixture.executor(FakeStore::default(), async |invocation: Invocation, host: Arc<dyn Host>| {
            let HandlerCall::Scheduled(event) = &invocation.handler else { panic!("not a run") };
            tokio::time::sleep(40 * MILLI).await;
            host.record_cpu_time(7 * MILLI);
            match event.data.get() {
                "1" => nothing(),
                "2" => Err(fail(FailureCode::AppError, "no")),
                "3" => Err(uncaught(
                    host.fetch(request("GET", "https://closed.example.com/")).await.unwrap_err(),
                )),
                _ => {
                    host.approval(ApprovalQuestion { title: "Pay?".into(), detail: None }).await.unwrap();
                    nothing()
                }
            }
        });
    let run = async |data: &str, attempt: u32| {
        let input = serde_json::value::RawValue::from_string(data.to_owned()).unwrap();
        executor.run(ClaimedRun { input, attempt, ..claimed() }).await;
        fixture.metrics.take()
    };
    let cpu = cpu_time(Workload::Run, 7 * MILLI);
    assert_eq!(run("1", 1).await, [cpu, attempt(AttemptEnding::Succeeded, 40 * MILLI)]);
    assert_eq!(run("2", 1).await, [cpu, attempt(AttemptEnding::Retried, 40 * MILLI)]);
    assert_eq!(run("2", 2).await, [cpu, attempt(AttemptEnding::Failed, 40 * MILLI)]);
    assert_eq!(run("3", 1).await, [cpu, attempt(AttemptEnding::Failed, 40 * MILLI)]);
    assert_eq!(run("4", 1).await, [cpu], "a run that asks a person goes on");
    // Runs that cannot start.
    let paused = ClaimedRun { app_availability: AppAvailability::Paused, ..claimed() };
    executor.run(paused).await;
    assert_eq!(fixture.metrics.take(), [attempt(AttemptEnding::Failed, None)]);
    let unavailable = fixture.executor(FakeStore::unavailable(), async |_, _| nothing());
    unavailable.run(claimed()).await;
    assert_eq!(fixture.metrics.take(), [attempt(AttemptEnding::Retried, None)]);
}
