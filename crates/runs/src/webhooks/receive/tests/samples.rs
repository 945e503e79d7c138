//! Tests from the console.

use super::*;

fn fixture(proof: Proof) -> Fixture {
    Fixture { ctx: editor_context(), ..Fixture::new(proof) }
}

#[tokio::test]
async fn a_test_is_audited_and_may_be_repeated() {
    let fixture = fixture(Proof::Signed(sealed(SECRET)));
    for _ in 0..2 {
        fixture.receive(&Request::json("1").signed(SECRET, 60).sample()).await.unwrap();
    }
    let calls = fixture.store.take_accepted();
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert!(call.is_sample && call.signature.is_none());
        let audit = call.audit.unwrap();
        assert_eq!((&*audit.action, audit.workspace), ("webhook.test", Some(workspace())));
        assert_eq!((audit.actor, audit.target), (kernel::Actor::Person(editor_id()), Some(target())));
        assert_eq!(audit.detail, Some(json!({ "mode": "signed", "hint": "qws_…hint" })));
    }
}

fn target() -> AuditTarget {
    let hook: HookId = id(40);
    AuditTarget(hook.to_string())
}

#[tokio::test]
async fn a_refused_test_is_audited_and_not_kept_for_replay() {
    for (state, code) in states_without_start(&Proof::None) {
        let fixture = Fixture { ctx: editor_context(), ..Fixture::of_state(state) };
        let refusal = fixture.receive(&Request::json("1").sample()).await.unwrap_err();
        assert_eq!(refusal.delivery_code(), Some(code));
        let refused = fixture.assert_recorded(code);
        assert!(refused.is_sample && refused.dead_letter.is_none());
        assert_eq!(refused.audit.unwrap().action, "webhook.test");
    }
}

#[tokio::test]
async fn a_test_of_a_token_needs_no_token() {
    let digest = || TokenDigest { digest: peppers().digest("qwt_1"), hint: "qwt_…".to_owned() };
    for proof in [Proof::Token(digest()), Proof::Messenger(digest())] {
        let fixture = fixture(proof);
        fixture.receive(&Request::json("1").sample()).await.unwrap();
        let refused = fixture.receive(&Request::json("1")).await;
        assert!(matches!(refused, Err(WebhookRefusal::BadToken)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_test_of_a_form_passes_its_guards() {
    let fixture = fixture(Proof::Form(FormSettings::default()));
    fixture.receive(&Request::form("_gotcha=x").sample()).await.unwrap();
    assert_eq!(fixture.store.count_accepted(), 1);
    assert!(fixture.rate_limiter.submissions().is_empty());
    assert_eq!(fixture.rate_limiter.calls().len(), 1);
}
