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

/// Sends chunks, and returns how many bytes each lets go on; the last number is that of the end.
fn lengths(secret: &str, chunks: &[String]) -> Vec<usize> {
    let mut stream = scrubber(secret).into_stream();
    let mut lengths: Vec<_> = chunks.iter().map(|chunk| stream.push(chunk.as_bytes()).len()).collect();
    lengths.push(stream.finish().len());
    lengths
}

#[test]
fn what_a_stream_holds_back_does_not_tell_the_secret() {
    let secret = "sk-Ab/9+cdefgh=1234\"z";
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let entities: String = secret.chars().map(|c| format!("&#x{:X};", u32::from(c))).collect();
    let units: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = STANDARD.encode(secret);
    for spelled in [secret.to_owned(), percent, entities, units, hex, base64] {
        // With all of it, the guess is the secret itself.
        for known in 1..spelled.len() - 2 {
            let (right, last) = spelled.split_at(known - 1);
            let last = last.chars().next().unwrap();
            // A wrong guess of the same shape: another digit for a digit, and the like.
            let wrong = match last {
                '0'..='8' | 'a'..='e' | 'A'..='E' | 'g'..='t' | 'v'..='y' | 'G'..='Y' => {
                    char::from(last as u8 + 1)
                }
                '+' | '/' | '=' | '"' if spelled == secret => 'A',
                '9' => '1',
                'z' => 'g',
                _ => continue,
            };
            for before in ["|", "", "data: {\"text\": \"", &"x".repeat(500)] {
                let guess =
                    |last: char| vec![format!("{before}{right}{last}"), "|".to_owned(), "\n".repeat(300)];
                let (right_guess, wrong_guess) = (guess(last), guess(wrong));
                assert_eq!(lengths(secret, &right_guess), lengths(secret, &wrong_guess), "{right_guess:?}");
            }
        }
    }
}

#[test]
fn a_stream_goes_on() {
    let mut stream = scrubber("k-abcdefgh-123").into_stream();
    let held = 2 * "k-abcdefgh-123".len() + spelling::MAX_SPELLING;
    let sent: usize = (0..100).map(|_| stream.push(b"data: one\n\n").len()).sum();
    assert!(sent + held + 11 >= 100 * 11, "{sent}");
    // Escapes are one character each, so that more bytes are held back, and no more characters.
    let sent: usize = (0..100).map(|_| stream.push(b"\\u0041").len()).sum();
    assert!(sent + held * 6 + 11 >= 100 * 6, "{sent}");
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

/// Spells characters of a text as so many programs do: of each, `choice` says how.
fn spell(text: &str, choices: &[u8], nested: u8) -> String {
    let mut spelled = String::new();
    for (at, c) in text.chars().enumerate() {
        let number = u32::from(c);
        let utf16 =
            || c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
        let percent = || c.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        spelled.push_str(&match choices[at % choices.len()] % 12 {
            0 => utf16(),
            1 => utf16().to_lowercase(),
            2 => percent(),
            3 => percent().to_uppercase(),
            4 => format!("&#{number};"),
            5 => format!("&#x{number:X};"),
            6 => format!("&#x{number:06x};"),
            7 if number < 128 && !c.is_ascii_alphanumeric() => format!("\\{c}"),
            8 if number < 128 => format!("\\x{number:02x}"),
            9 => format!("\\u{{{number:x}}}"),
            10 if c == ' ' => "+".to_owned(),
            _ => c.to_string(),
        });
    }
    for _ in 0..nested {
        let json = serde_json::to_string(&spelled).unwrap();
        spelled = json[1..json.len() - 1].to_owned();
    }
    spelled
}

#[test]
fn what_encoders_write_is_found() {
    let secret = "Zk/9+wQ==v7Lr-_.~:&<>'\"x";
    for text in [
        r#"Zk/9\u002BwQ==v7Lr-_.~:\u0026\u003C\u003E\u0027\u0022x"#,
        r#"Zk/9+wQ\u003d\u003dv7Lr-_.~:\u0026\u003c\u003e\u0027\"x"#,
        "Zk/9&#43;wQ==v7Lr-_.~:&amp;&lt;&gt;&#39;&#34;x",
        "Zk/9+wQ&#x3D;&#x3D;v7Lr-_.~:&amp;&lt;&gt;&#x27;&quot;x",
        "Zk&#x2F;9+wQ&#x3D;&#x3D;v7Lr-_.~:&amp;&lt;&gt;&#39;&quot;x",
        "Zk&sol;9&plus;wQ&equals;&equals;v7Lr&#45;&lowbar;&period;~&colon;&amp;&lt;&gt;&apos;&quot;x",
        r"Zk\x2F9\x2BwQ\x3D\x3Dv7Lr\x2D_.\x7E\x3A\x26\x3C\x3E\x27\x22x",
        r#"Zk\/9+wQ==v7Lr-_.~:&<>\'\"x"#,
        r#"Zk/9+wQ==v7Lr\-\_\.\~:&<>''""x"#,
        r"Zk/9+wQ==v7Lr-_.~:\u0026amp;\u0026lt;\u0026gt;\u0026#39;\u0026#34;x",
        "Zk%252F9%252BwQ%253D%253Dv7Lr-_.~%253A%2526%253C%253E%2527%2522x",
        "Zk=2F9+wQ=3D=3Dv7Lr-_.~:&<>'\"x",
        "Zk%u002F9%u002BwQ%3D%3Dv7Lr-_.%7E%3A%26%3C%3E%27%22x",
        r#"Zk\0579\053wQ\075\075v7Lr-_.~:&<>'\"x"#,
        r#"{\\\"a\\\":\\\"Zk/9+wQ==v7Lr-_.~:&<>'\\\"x"#,
    ] {
        let scrubbed = scrubber(secret).scrub_text(text).into_owned();
        assert!(scrubbed.ends_with(REDACTED) && scrubbed.len() < 30, "{text}: {scrubbed}");
    }
    for wide in [
        secret.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        secret.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        secret.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        secret.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
    ] {
        assert!(scrubber(secret).scrub_bytes(&wide).len() <= REDACTED.len() + 3);
    }
}

#[test]
fn the_pair_of_basic_authentication_is_a_text_of_its_own() {
    let auth: Auth = serde_json::from_value(json!({"type": "basic", "username": "robot"})).unwrap();
    let secret = "p/a+s?s~\u{ff}\u{fe}>>>???";
    let scrubber = Scrubber::for_connection(&auth, Some(&secret.into()), &[]).unwrap();
    let pair = STANDARD.encode(format!("robot:{secret}"));
    assert!(pair.contains('/') && pair.contains('+'), "{pair}");
    for text in [
        pair.clone(),
        pair.replace('/', "\\/"),
        pair.replace('/', "%2F").replace('+', "%2b").replace('=', "%3D"),
        pair.replace('/', "&#x2F;").replace('+', "&#43;").replace('=', "&#61;"),
        pair.replace('/', "_").replace('+', "-"),
        STANDARD.encode(&pair),
        URL_SAFE_NO_PAD.encode(format!("Basic {pair}")),
    ] {
        let scrubbed = scrubber.scrub_text(&text).into_owned();
        assert!(scrubbed.contains(REDACTED) && scrubbed.len() < REDACTED.len() + 12, "{text}: {scrubbed}");
    }
}

#[test]
fn what_stands_before_a_secret_does_not_hide_it() {
    let secret = "2Fabcdef+1234";
    for before in ["%", "\\u00", "\\x", "&#", "&", "\\", "=", "\\\\", "%25", "\0", "&#x"] {
        for text in [format!("{before}{secret}"), format!("{before}{}", secret.replace('+', "\\u002b"))] {
            let scrubbed = scrubber(secret).scrub_text(&text).into_owned();
            assert_eq!(scrubbed, format!("{before}{REDACTED}"), "{text}");
        }
    }
}

#[test]
fn secrets_that_repeat_themselves_are_found() {
    for part in ["k", "ab", "\\", "\\\"%&+", "%25", "A"] {
        let secret = part.repeat(600 / part.len());
        let text = format!("{}|{}|{}", &secret[1..], secret.repeat(2), &secret[1..]);
        let expected = text.replace(&secret.repeat(2), REDACTED);
        // What repeats itself begins again in every part, so that it may end early.
        let whole = scrubber(&secret).scrub_text(&text).into_owned();
        assert!(
            whole.contains(REDACTED) && whole.len() <= expected.len() + REDACTED.len(),
            "{part}: {whole}"
        );
        for width in [1, 3, 700] {
            let cuts: Vec<_> = (0..text.len()).step_by(width).collect();
            assert_eq!(
                streamed(&scrubber(&secret), text.as_bytes(), &cuts),
                whole.as_bytes(),
                "{part} {width}"
            );
        }
    }
}

#[test]
fn matches_that_overlap_everywhere_are_one() {
    // The base64 of these at each offset is one letter too.
    let secrets: Vec<_> = (1_000..1_004).map(|length| SecretString::from("U".repeat(length))).collect();
    let letters = Scrubber::new(&secrets).unwrap();
    let text = format!("|{}|{}|", "V".repeat(8_192), "\\u0056".repeat(2_048));
    assert_eq!(letters.scrub_text(&text), format!("|{REDACTED}|{REDACTED}|"));
    let run = "\\".repeat(4_096);
    let slashes = scrubber(&run[..1_024]);
    assert_eq!(slashes.scrub_text(&format!("{run}z{run}")), format!("{REDACTED}z{REDACTED}"));
}

proptest! {
    #[test]
    fn every_character_may_be_spelled_in_its_own_way(
        secret in "[ -~а-яё\u{e9}\u{1f600}]{8,40}",
        choices in vec(any::<u8>(), 1..50),
        nested in 0..2_u8,
        before in "[ -~]{0,20}",
        after in "[ -~]{0,20}",
        cuts in vec(any::<usize>(), 0..6),
    ) {
        let scrubber = scrubber(&secret);
        let spelled = spell(&secret, &choices, nested);
        let text = format!("{before}{spelled}{after}");
        let whole = scrubber.scrub_bytes(text.as_bytes()).into_owned();
        prop_assert!(!contains(&whole, spelled.as_bytes()));
        // What is left is what stood around it, but for what another spelling may take of that.
        let expected = format!("{before}{REDACTED}{after}");
        prop_assert!(whole.len() <= expected.len() && contains(&whole, REDACTED.as_bytes()), "{}", text);
        prop_assert_eq!(&streamed(&scrubber, text.as_bytes(), &cuts), &whole);
    }

    #[test]
    fn pieces_of_a_stream_depend_on_its_shape_alone(
        secret in "[a-z]{8,40}",
        salt in 1..25_u8,
        text in "[a-z \\\\%&;#u0-9]{0,400}",
        cuts in vec(any::<usize>(), 0..6),
    ) {
        let other: String = secret.bytes().map(|byte| char::from(b'a' + (byte - b'a' + salt) % 26)).collect();
        let pieces = |secret: &str| {
            let text = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let mut stream = scrubber(secret).into_stream();
            let mut from = 0;
            cuts.into_iter().map(|cut| { let piece = stream.push(&text[from..cut]); from = cut; piece }).collect::<Vec<_>>()
        };
        prop_assume!(!contains(text.as_bytes(), secret.as_bytes()) && !contains(text.as_bytes(), other.as_bytes()));
        prop_assert_eq!(pieces(&secret), pieces(&other));
    }
}

/// Returns texts that begin again within themselves, and are short enough to be searched for naively.
fn repetitive_texts() -> impl Strategy<Value = Vec<String>> {
    let unit = prop_oneof![
        "[ab]{1,4}",
        "[+ ]{1,5}",
        "[\\\\a]{1,5}",
        "[\\\\u0041A]{1,6}",
        "[%25F]{1,4}",
        "[&amp;#4\"'= ]{1,5}"
    ];
    let text = (unit, 8..140_usize).prop_map(|(unit, length)| unit.repeat(length)[..length].to_owned());
    vec(prop_oneof![3 => text, 1 => "[\\\\u0041A%&+ ]{8,40}"], 1..5)
}

proptest! {
    #[test]
    fn what_a_naive_search_finds_is_redacted_and_nothing_else(
        secrets in repetitive_texts(),
        parts in vec((any::<prop::sample::Index>(), 0..6_u8, 0..8_usize, vec(any::<u8>(), 1..8)), 1..7),
        is_wide in prop::bool::weighted(0.1),
    ) {
        let mut text = String::new();
        for (secret, form, cut, choices) in &parts {
            let secret = secret.get(&secrets);
            match form {
                0 => text.push_str(&secret[*cut..]),
                1 => text.push_str(&secret[..secret.len() - cut]),
                2 => text.push_str(&spell(secret, choices, 0)),
                3 => text.push_str(&STANDARD.encode(format!("{}{secret}", &"xy"[..cut % 3]))),
                4 => secret.bytes().for_each(|byte| text.push_str(&format!("{byte:02x}"))),
                _ => text.push_str(&spell(&secret[..secret.len().min(20)], choices, 1)),
            }
        }
        let mut bytes = text.into_bytes();
        if is_wide {
            bytes = bytes.into_iter().flat_map(|byte| [byte, 0]).collect();
        }
        let patterns = Arc::new(Patterns::of(secrets.iter().map(String::as_str)));
        let mut search = Search::new(patterns, false);
        search.read(&bytes, 0, true);
        prop_assert_eq!(naive::merge(search.found().iter().cloned()), naive::find(&secrets, &bytes));
    }
}

/// Measures the time of searches that take long, in nanoseconds for each byte. It is a tool and not a test:
/// `cargo test --release --package connections --lib -- --ignored --nocapture long_searches`.
#[test]
#[ignore = "a measurement"]
fn long_searches() {
    let repeated = |letter: &str, lengths: std::ops::Range<usize>| -> Vec<String> {
        lengths.map(|length| letter.repeat(length)).collect()
    };
    let key = || vec!["sk-Ab9xcdEfgh1234zQWERTYuiopLKJHgfdsa12".to_owned()];
    let json = r#"{"id": 4711, "name": "Some \"Person\"", "url": "https://example.com/a%20b?x=1", "text": "Lorem ipsum\n"},"#;
    let length = 16 << 10;
    for (name, secrets, text) in [
        ("a key in JSON", key(), json.repeat(length / json.len())),
        ("a key in backslashes", key(), "\\".repeat(length)),
        ("four secrets of one letter", repeated("U", 4_093..4_097), "V".repeat(length)),
        ("the same, escaped", repeated("U", 4_093..4_097), "\\u0056".repeat(length / 6)),
        ("fifty secrets of one letter", repeated("U", 300..350), "V".repeat(length)),
        ("backslashes in runs", vec!["\\".repeat(4_096)], format!("{}z", "\\".repeat(8_192)).repeat(2)),
    ] {
        let secrets: Vec<SecretString> = secrets.into_iter().map(SecretString::from).collect();
        let scrubber = Scrubber::new(&secrets).unwrap();
        let search = || {
            let begun = std::time::Instant::now();
            let _ = scrubber.scrub_bytes(text.as_bytes());
            begun.elapsed()
        };
        // The least of several: others use the processor too.
        let least = (0..10).map(|_| search()).min().unwrap_or_default();
        println!("{name}: {} ns", least.as_nanos() / text.len() as u128);
    }
}
