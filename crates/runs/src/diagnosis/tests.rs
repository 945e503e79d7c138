//! Tests of the rules, over facts of every kind.

use kernel::id::VersionId;

use super::*;
use crate::{
    TriggerKind,
    queue::RunFault,
    runs::{RunSpan, VersionRef},
};

fn version(number: u32) -> VersionId {
    format!("ver_01h455vb4pex5vsknk084sn0{number:02}").parse().unwrap()
}

fn run(code: &str) -> Run {
    let span = RunSpan { started_at: Timestamp::UNIX_EPOCH, finished_at: Timestamp::UNIX_EPOCH };
    let fault = RunFault { code: code.to_owned(), message: "as told".to_owned() };
    let blocked = code.ends_with("_denied") || code == "private_address";
    Run {
        id: "run_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        workspace: "ws_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        app: "app_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        app_name: "Orders".to_owned(),
        automation: None,
        automation_name: None,
        trigger: TriggerKind::Webhook,
        accepted_at: Timestamp::UNIX_EPOCH,
        state: if blocked { RunState::Blocked(span, fault) } else { RunState::Failed(span, fault) },
        attempt: 1,
        minutes_saved: 0.0,
        version: Some(VersionRef { id: version(2), number: Some(2), is_current: true }),
        replay_of: None,
        asked_by: None,
        cancelled_by: None,
        steps: Vec::new(),
    }
}

fn line(id: u64, request: Option<ObservedRequest>) -> EvidenceLine {
    let message = format!("line {id}");
    EvidenceLine {
        id,
        at: Timestamp::UNIX_EPOCH,
        source: "gate",
        is_warning_or_error: false,
        message,
        request,
    }
}

fn request(host: &str, outcome: Result<u16, &str>) -> Option<ObservedRequest> {
    let (method, host) = ("GET".to_owned(), Some(host.to_owned()));
    Some(ObservedRequest { method, host, connection: None, outcome: outcome.map_err(str::to_owned) })
}

fn refused(code: &str, host: HostStatus) -> RunFacts {
    let lines = vec![
        line(1, request("fine.example", Ok(200))),
        line(2, request("api.example", Err(code))),
        line(3, request("other.example", Ok(500))),
    ];
    RunFacts { lines, host: Some(host), ..RunFacts::from_run(run(code)) }
}

#[test]
fn every_cause_has_its_own_sentences_in_every_language() {
    let mut seen = std::collections::BTreeSet::new();
    for locale in [Locale::En, Locale::Ru, Locale::Kk] {
        for cause in Cause::ALL {
            let facts = refused(
                "egress_denied",
                HostStatus { is_declared: false, is_gate_open: false, is_declarable: true },
            );
            let explanation = phrases::explain(&facts, cause, None, locale);
            for text in [&explanation.what, &explanation.why, &explanation.next] {
                assert!(
                    !text.is_empty() && !text.contains(['{', '}']) && !text.contains("  "),
                    "{cause:?}: {text}"
                );
                assert!(text.chars().count() <= 1200, "{cause:?}: {text}");
            }
            let without_message = explanation.why.split(':').next().unwrap_or_default().to_owned();
            assert!(seen.insert((locale.as_str(), without_message)), "{cause:?} says what another says");
        }
    }
}

#[test]
fn explanations_are_those_that_were_reviewed() {
    let status = HostStatus { is_declared: false, is_gate_open: false, is_declarable: true };
    let facts = refused("egress_denied", status);
    let span = RunSpan { started_at: Timestamp::UNIX_EPOCH, finished_at: Timestamp::UNIX_EPOCH };
    let fault = RunFault { code: "uncaught_exception".to_owned(), message: "as told".to_owned() };
    let states = [
        RunState::Queued { fault: None },
        RunState::Running { started_at: span.started_at },
        RunState::WaitingApproval { started_at: span.started_at },
        RunState::Succeeded(span),
        RunState::Failed(span, fault.clone()),
        RunState::Blocked(span, fault),
    ];
    let rollback = Fix::Rollback { version: version(1), number: Some(1) };
    let mut texts = String::new();
    for locale in [Locale::En, Locale::Ru, Locale::Kk] {
        for state in &states {
            let facts = RunFacts::from_run(Run { state: state.clone(), ..run("") });
            let what = phrases::explain(&facts, Cause::Unknown, None, locale).what;
            texts.push_str(&format!("{locale} {}: {what}\n", state.status().as_str()));
        }
        let mut add = |name: String, cause, fix: Option<&Fix>| {
            let Explanation { why, next, .. } = phrases::explain(&facts, cause, fix, locale);
            texts.push_str(&format!("{locale} {name}\n  {why}\n  {next}\n"));
        };
        for cause in Cause::ALL {
            add(format!("{cause:?}"), cause, None);
        }
        add("UncaughtException with a rollback".to_owned(), Cause::UncaughtException, Some(&rollback));
        add("HostUndeclared, allowed by now".to_owned(), Cause::HostUndeclared, Some(&Fix::Retry));
    }
    kernel::testing::compare_snapshot(env!("CARGO_MANIFEST_DIR"), "explanations.txt", &texts).unwrap();
}

#[test]
fn a_placeholder_without_a_value_is_removed() {
    for locale in [Locale::En, Locale::Ru, Locale::Kk] {
        for cause in Cause::ALL {
            let said = phrases::explain(&RunFacts::from_run(run("x")), cause, None, locale);
            let text = format!("{} {} {}", said.what, said.why, said.next);
            assert!(!text.contains(['{', '}']) && !text.contains("  ") && !text.contains(" ,"), "{text}");
        }
    }
    let said = phrases::explain(&RunFacts::from_run(run("x")), Cause::AuthRejected, None, Locale::Kk);
    assert!(said.why.starts_with("Қызметі"), "{}", said.why);
}

#[test]
fn each_code_has_its_class() {
    for (code, class) in [
        ("egress_denied", FailureClass::EgressDenied),
        ("host_denied", FailureClass::EgressDenied),
        ("header_denied", FailureClass::RequestDenied),
        ("not_connected", FailureClass::SecretMissing),
        ("auth_rejected", FailureClass::AuthRejected),
        ("quota_reached", FailureClass::Quota),
        ("ai_budget", FailureClass::AiBudget),
        ("ai_setup", FailureClass::AiSetup),
        ("timeout", FailureClass::Timeout),
        ("rate_limited", FailureClass::ConnectorRateLimited),
        ("upstream_failed", FailureClass::UpstreamFailed),
        ("app_error", FailureClass::CodeError),
        ("memory_exceeded", FailureClass::LimitExceeded),
        ("invalid_bundle", FailureClass::InvalidCode),
        ("app_paused", FailureClass::NotRunnable),
        ("approval_expired", FailureClass::ApprovalRefused),
        ("lease_lost", FailureClass::Platform),
    ] {
        let found = diagnose(&RunFacts::from_run(run(code)), Locale::En);
        assert_eq!((found.class, found.confidence), (Some(class), Confidence::High), "{code}");
        assert!(found.explanation.why.contains("as told"), "{code}");
    }
    let found = diagnose(&RunFacts::from_run(run("new")), Locale::En);
    assert_eq!((found.class, found.confidence), (Some(FailureClass::Unknown), Confidence::Low));
    let mut done = run("x");
    done.state = RunState::Running { started_at: Timestamp::UNIX_EPOCH };
    let found = diagnose(&RunFacts::from_run(done.clone()), Locale::En);
    assert!(found.class.is_none() && found.fix.is_none() && !is_explained(&done));
}

#[test]
fn a_cancelled_run_names_the_person_and_is_no_failure_of_the_app() {
    for (locale, what, why) in [
        (Locale::En, "The run of Orders was cancelled.", "A person cancelled it: Aisha Nur."),
        (Locale::Ru, "Запуск приложения «Orders» отменён.", "Его отменил человек: Aisha Nur."),
        (Locale::Kk, "«Orders» қолданбасын іске қосудан бас тартылды.", "Одан адам бас тартты: Aisha Nur."),
    ] {
        let cancelled_by = Some("Aisha Nur".to_owned());
        let found = diagnose(&RunFacts { cancelled_by, ..RunFacts::from_run(run("cancelled")) }, locale);
        assert_eq!((found.explanation.what.as_str(), found.explanation.why.as_str()), (what, why));
        assert_eq!((found.class, found.confidence, found.fix), (None, Confidence::High, Some(Fix::Retry)));
        // A person whose account is gone has no name.
        let found = diagnose(&RunFacts::from_run(run("cancelled")), locale);
        assert_eq!(found.explanation.why, why.replace(": Aisha Nur", ""));
    }
}

#[test]
fn an_error_after_a_failed_request_is_blamed_on_the_request() {
    for (outcome, class) in [
        (Ok(401), FailureClass::AuthRejected),
        (Ok(429), FailureClass::ConnectorRateLimited),
        (Ok(502), FailureClass::UpstreamFailed),
        (Err("dns_failed"), FailureClass::UpstreamFailed),
        (Err("timeout"), FailureClass::Timeout),
        (Err("not_connected"), FailureClass::SecretMissing),
    ] {
        let lines = vec![line(1, request("api.example", outcome))];
        let found = diagnose(&RunFacts { lines, ..RunFacts::from_run(run("app_error")) }, Locale::En);
        assert_eq!((found.class, found.confidence), (Some(class), Confidence::Medium), "{outcome:?}");
    }
    let aborted = || request("other.example", Err("aborted"));
    for (outcome, class) in
        [(Ok(502), FailureClass::UpstreamFailed), (Err("aborted"), FailureClass::CodeError)]
    {
        let lines = vec![line(1, request("api.example", outcome)), line(2, aborted())];
        let found = diagnose(&RunFacts { lines, ..RunFacts::from_run(run("app_error")) }, Locale::En);
        assert_eq!(found.class, Some(class), "{outcome:?}");
    }
    let lines = vec![line(1, request("api.example", Ok(500))), line(2, request("api.example", Ok(200)))];
    let found = diagnose(&RunFacts { lines, ..RunFacts::from_run(run("app_error")) }, Locale::En);
    assert_eq!(found.class, Some(FailureClass::CodeError));
}

#[test]
fn a_host_is_only_suggested_while_it_is_not_allowed() {
    let standing = |declared, gate_open, nameable| HostStatus {
        is_declared: declared,
        is_gate_open: gate_open,
        is_declarable: nameable,
    };
    let host = || "api.example".to_owned();
    for (code, standing, fix, suggestion) in [
        ("egress_denied", standing(false, false, true), Some(Fix::AllowEgress(host())), Some(host())),
        ("egress_denied", standing(false, true, true), Some(Fix::AllowEgress(host())), Some(host())),
        ("host_denied", standing(true, false, true), Some(Fix::AllowEgress(host())), None),
        ("egress_denied", standing(true, true, true), Some(Fix::Retry), None),
        ("egress_denied", standing(false, false, false), Some(Fix::EditApp), None),
        ("private_address", standing(false, false, true), Some(Fix::EditApp), None),
    ] {
        let found = diagnose(&refused(code, standing), Locale::En);
        assert_eq!((found.fix, found.suggested_host), (fix, suggestion), "{code} {standing:?}");
    }
    let found = diagnose(&refused("egress_denied", standing(false, false, true)), Locale::En);
    assert!(found.explanation.why.contains("api.example"), "{}", found.explanation.why);
}

#[test]
fn a_rollback_is_suggested_only_to_another_version_that_succeeded_and_can_run() {
    let good = |number| {
        let mut good = run("app_error");
        good.version = Some(VersionRef { id: version(number), number: Some(number), is_current: false });
        RunFacts {
            last_good: Some(good),
            last_good_version: Some((version(number), Some(number))),
            ..RunFacts::from_run(run("app_error"))
        }
    };
    let back = Fix::Rollback { version: version(1), number: Some(1) };
    let found = diagnose(&good(1), Locale::Ru);
    assert_eq!(found.fix, Some(back));
    assert!(found.explanation.next.contains("версия 1"), "{}", found.explanation.next);
    assert_eq!(good(1).has_version_changed(), Some(true));
    assert_eq!(diagnose(&good(2), Locale::En).fix, Some(Fix::EditApp), "the same version was good");
    let gone = RunFacts { last_good_version: None, ..good(1) };
    assert_eq!(diagnose(&gone, Locale::En).fix, Some(Fix::EditApp), "the version is gone");
    let mut left = good(1);
    left.run.version = left.run.version.map(|version| VersionRef { is_current: false, ..version });
    assert_eq!(diagnose(&left, Locale::En).fix, Some(Fix::EditApp), "the app moved on already");
}

#[test]
fn evidence_consists_of_lines_of_the_log() {
    let standing = HostStatus { is_declared: false, is_gate_open: false, is_declarable: true };
    let mut facts = refused("egress_denied", standing);
    facts.lines.extend((4..40).map(|id| line(id, None)));
    let found = diagnose(&facts, Locale::En);
    assert!(found.evidence.len() <= MAX_EVIDENCE_LINES);
    assert!(
        found.evidence[0].starts_with("#2 1970-01-01T00:00:00.000Z gate: line 2"),
        "{:?}",
        found.evidence
    );
    for said in &found.evidence {
        assert!(facts.lines.iter().any(|line| said.starts_with(&format!("#{} ", line.id))), "{said}");
    }
}
