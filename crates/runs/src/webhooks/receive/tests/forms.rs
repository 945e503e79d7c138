//! Submissions of public forms.

use super::*;

fn settings(settings: FormSettings) -> Fixture {
    Fixture::new(Proof::Form(settings))
}

#[tokio::test]
async fn a_submission_is_answered_with_a_page_or_a_redirect() {
    let url = "https://a.example/thanks".to_owned();
    let redirecting = FormSettings { redirect: Some(url.clone()), ..FormSettings::default() };
    for (fixture, expected) in
        [(Fixture::form(), FormResponse::Page), (settings(redirecting), FormResponse::Redirect(url))]
    {
        let request = Request::form("name=Aida&_gotcha=").key("k1");
        for is_duplicate in [false, true] {
            let accepted = fixture.receive(&request).await.unwrap();
            assert_eq!(
                (accepted.is_duplicate, accepted.form_response),
                (is_duplicate, Some(expected.clone()))
            );
        }
        let calls = fixture.store.take_accepted();
        assert_eq!((calls.len(), calls[0].trigger), (1, TriggerKind::Form));
        assert_eq!(calls[0].input.get(), r#"{"_gotcha":"","name":"Aida"}"#);
    }
}

#[tokio::test]
async fn a_filled_hidden_field_is_answered_as_usual_and_starts_nothing() {
    let fixture = Fixture::form();
    let accepted = fixture.receive(&Request::form("name=Bot&_gotcha=x")).await.unwrap();
    assert_eq!((accepted.is_duplicate, accepted.form_response), (false, Some(FormResponse::Page)));
    let refused = fixture.assert_recorded("honeypot");
    assert_eq!(refused.id, accepted.delivery);
    assert!(refused.dead_letter.is_none());
    assert_eq!(fixture.rate_limiter.submissions().len(), 1);
}

#[tokio::test]
async fn a_filled_hidden_field_is_not_kept_for_replay() {
    for (state, code) in states_without_start(&Proof::Form(FormSettings::default())) {
        let fixture = Fixture::of_state(state);
        let refusal = fixture.receive(&Request::form("_gotcha=x")).await.unwrap_err();
        assert_eq!(refusal.delivery_code(), Some(code));
        assert!(fixture.assert_recorded(code).dead_letter.is_none());
        fixture.receive(&Request::form("name=Aida")).await.unwrap_err();
        assert!(fixture.assert_recorded(code).dead_letter.is_some());
    }
}

#[tokio::test]
async fn a_submission_from_an_unlisted_site_leaves_a_row() {
    let sites = vec!["https://a.example".to_owned()];
    let fixture = settings(FormSettings { allowed_sites: sites, ..FormSettings::default() });
    let from = |site| Request::form("a=1").header(&ORIGIN, site);
    let refused = fixture.receive(&from("https://b.example")).await;
    assert!(matches!(refused, Err(WebhookRefusal::BadOrigin)), "{refused:?}");
    assert!(fixture.assert_recorded("bad_origin").dead_letter.is_none());
    fixture.receive(&from("https://a.example")).await.unwrap();
}

#[tokio::test]
async fn a_submission_may_have_32_kib_and_must_be_an_object() {
    let fixture = Fixture::form();
    let sized = |bytes: usize| Request::form(&format!("a={}", "x".repeat(bytes - 2)));
    fixture.receive(&sized(form::MAX_BODY)).await.unwrap();
    fixture.store.take_accepted();
    let refused = fixture.receive(&sized(form::MAX_BODY + 1)).await;
    assert!(matches!(refused, Err(WebhookRefusal::TooLarge { limit_kib: 32 })), "{refused:?}");
    fixture.assert_nothing_stored();
    let refused = fixture.receive(&Request::json("[1]")).await;
    assert!(matches!(refused, Err(WebhookRefusal::InvalidBody(_))), "{refused:?}");
    fixture.assert_recorded("invalid_body");
}

#[tokio::test]
async fn submissions_of_one_address_are_limited() {
    let mut fixture = Fixture::form();
    fixture.rate_limiter.max_submissions = 1;
    fixture.receive(&Request::form("a=1")).await.unwrap();
    let refused = fixture.receive(&Request::form("a=1")).await;
    assert!(matches!(refused, Err(WebhookRefusal::RateLimited(_))), "{refused:?}");
    let address = Some([192, 0, 2, 7].into());
    assert_eq!(fixture.rate_limiter.submissions(), [(id(40), address, 5); 2]);
    // Who sends too many takes nothing from the others.
    assert_eq!(fixture.rate_limiter.calls().len(), 1);
    assert_eq!(fixture.store.count_accepted(), 1);
}
