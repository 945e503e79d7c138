use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use super::*;

fn scrubber(secret: &str) -> Scrubber {
    Scrubber::new([&SecretString::from(secret)]).unwrap()
}

/// Sends a text through a stream in chunks that end at these places.
fn streamed(scrubber: &Scrubber, bytes: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut stream = scrubber.clone().into_stream();
    let (mut from, mut out) = (0, Vec::new());
    for cut in cuts {
        out.extend(stream.push(&bytes[from..cut]));
        from = cut;
    }
    out.extend(stream.push(&bytes[from..]));
    out.extend(stream.finish());
    out
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn forms_that_other_programs_write_are_found() {
    let secret = "pa/ss+w\"ö<rd>&'\\ =?k";
    let scrubber = scrubber(secret);
    let hidden = |text: &str| {
        let scrubbed = scrubber.scrub_text(text);
        assert_eq!(scrubbed, format!("before {REDACTED} after"), "{text}");
    };
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let every_byte = secret.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let json_text = serde_json::to_string(secret).unwrap();
    let json_text = json_text.trim_matches('"');
    let in_json = serde_json::to_string(json_text).unwrap();
    for text in [
        secret.to_owned(),
        form,
        percent,
        "pa%2Fss%2Bw%22%C3%B6%3Crd%3E%26'%5C%20%3D%3Fk".to_owned(),
        every_byte,
        json_text.to_owned(),
        in_json.trim_matches('"').to_owned(),
        r#"pa\/ss+w\"\u00f6<rd>&'\\ =?k"#.to_owned(),
        r#"pa/ss+w\"ö\u003crd\u003e\u0026'\\ =?k"#.to_owned(),
        "pa/ss+w&quot;ö&lt;rd&gt;&amp;&#39;\\ =?k".to_owned(),
        "pa/ss+w&#34;ö&lt;rd&gt;&amp;&#x27;\\ =?k".to_owned(),
        secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
        secret.bytes().map(|byte| format!("{byte:02X}")).collect(),
        secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        STANDARD.encode(secret),
        URL_SAFE.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ] {
        hidden(&format!("before {text} after"));
    }
}

#[test]
fn the_pair_of_basic_authentication_is_found() {
    let auth: Auth = serde_json::from_value(json!({"type": "basic", "username": "api"})).unwrap();
    for secret in ["s3cret-password", "short"] {
        let scrubber = Scrubber::for_connection(&auth, Some(&SecretString::from(secret)), &[]).unwrap();
        let header = format!("Basic {}", STANDARD.encode(format!("api:{secret}")));
        assert_eq!(scrubber.scrub_text(&header), REDACTED);
        let pair = format!("user=api:{secret}");
        assert_eq!(scrubber.scrub_text(&pair), format!("user={REDACTED}"));
    }
}

#[test]
fn short_secrets_are_found_only_beside_what_is_sent_with_them() {
    assert_eq!(scrubber("1234567").scrub_text("1234567"), "1234567");
    assert_eq!(scrubber("12345678").scrub_text("12345678"), REDACTED);
    let auth: Auth = serde_json::from_value(json!({"type": "bearer"})).unwrap();
    let scrubber = Scrubber::for_connection(&auth, Some(&"abc".into()), &[]).unwrap();
    assert_eq!(scrubber.scrub_text("Bearer abc, abc"), format!("{REDACTED}, abc"));
}

#[test]
fn each_part_of_a_secret_is_found() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n";
    let file = json!({"client_email": "a@b.example", "private_key": key}).to_string();
    for (auth, secret, echoed) in [
        (
            json!({"type": "headers", "names": ["apikey", "authorization"]}),
            r#"{"apikey":"first-secret","authorization":"Bearer second-secret"}"#,
            "first-secret second-secret",
        ),
        (
            json!({"type": "url"}),
            "https://hooks.example.com/services/T000/B000/abcdefghijklmnopqrst",
            "abcdefghijklmnopqrst",
        ),
        (
            json!({"type": "service_account", "tokenUrl": "https://a.example/", "scopes": []}),
            file.as_str(),
            "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        ),
    ] {
        let auth: Auth = serde_json::from_value(auth).unwrap();
        let scrubber =
            Scrubber::for_connection(&auth, Some(&secret.into()), &["access-token-1".into()]).unwrap();
        for part in echoed.split(' ') {
            assert_eq!(scrubber.scrub_text(part), REDACTED);
        }
        assert_eq!(scrubber.scrub_text("access-token-1"), REDACTED);
    }
}

#[test]
fn secrets_that_overlap_leave_nothing() {
    let (one, two) = (SecretString::from("abcdefghij"), SecretString::from("ghijklmnop"));
    let scrubber = Scrubber::new([&one, &two]).unwrap();
    for cut in 0..=20 {
        assert_eq!(streamed(&scrubber, b"--abcdefghijklmnop--", &[cut]), b"--[redacted]--", "{cut}");
    }
    assert_eq!(scrubber.scrub_text("abcdefghijabcdefghij"), "[redacted][redacted]");
    assert_eq!(streamed(&scrubber, b"abcdefghijabcdefghij", &[3, 12]), b"[redacted][redacted]");
    assert!(!format!("{scrubber:?} {:?}", scrubber.clone().into_stream()).contains("abc"));
}

#[test]
fn without_secrets_everything_passes() {
    let nothing = Scrubber::new([]).unwrap();
    assert_eq!(streamed(&nothing, b"text", &[1, 2]), b"text");
    let mut stream = nothing.into_stream();
    assert_eq!(stream.push(b"at once"), b"at once");
}

#[test]
fn a_stream_holds_back_only_what_may_be_a_secret() {
    let mut stream = scrubber("k-abcdefgh-123").into_stream();
    assert_eq!(stream.push(b"data: one\n\n"), b"data: one\n\n");
    assert_eq!(stream.push(b"data: k-ab"), b"data: ");
    assert_eq!(stream.push(b" and"), b"k-ab and");
    assert_eq!(stream.push(b" k-abcdefgh-12"), b" ");
    // Nothing longer begins like the whole secret, so that an event with it is not late either.
    assert_eq!(stream.push(b"3\n\n"), b"[redacted]\n\n");
    assert_eq!(stream.finish(), b"");
}

#[test]
fn the_longest_secret_is_searched_for() {
    let long = "k".repeat(4_000) + "\"end/";
    let scrubber = scrubber(&long);
    assert_eq!(scrubber.scrub_text(&serde_json::to_string(&long).unwrap()), format!("\"{REDACTED}\""));
}

proptest! {
    #[test]
    fn no_form_survives_wherever_the_stream_is_split(
        secret in "[ -~а-яё]{8,40}",
        form: prop::sample::Index,
        before in vec(any::<u8>(), 0..40),
        after in vec(any::<u8>(), 0..40),
        cuts in vec(any::<usize>(), 0..6),
    ) {
        let scrubber = scrubber(&secret);
        let forms = forms::forms(&secret);
        let form = form.get(&forms);
        let text = [before.as_slice(), form, &after].concat();
        let whole = scrubber.scrub_bytes(&text).into_owned();
        prop_assert_eq!(&streamed(&scrubber, &text, &cuts), &whole);
        prop_assert!(!forms.iter().any(|form| contains(&whole, form)));
    }

    #[test]
    fn base64_of_a_text_with_the_secret_hides_it(
        secret in "[!-~]{8,40}",
        before in vec(any::<u8>(), 0..8),
        after in vec(any::<u8>(), 0..8),
    ) {
        let text = [before.as_slice(), secret.as_bytes(), &after].concat();
        for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            let scrubbed = scrubber(&secret).scrub_text(&encoded).into_owned();
            prop_assert!(scrubbed.contains(REDACTED), "{} {}", encoded, scrubbed);
            // What is left are the characters of the neighbours, with at most four bits of the secret each.
            let left = scrubbed.len() - REDACTED.len();
            prop_assert!(left <= (before.len() + after.len()) * 8 / 6 + 6, "{} {}", encoded, scrubbed);
        }
    }

    #[test]
    fn text_without_the_secret_passes_unchanged(
        secret in "[!-~]{8,40}",
        text in vec(any::<u8>(), 0..300),
        cuts in vec(any::<usize>(), 0..6),
    ) {
        let forms = forms::forms(&secret);
        prop_assume!(!forms.iter().any(|form| contains(&text, form)));
        prop_assert_eq!(streamed(&scrubber(&secret), &text, &cuts), text);
    }
}
