//! Verification of proofs. A caller that fails never learns which part was wrong.

use chrono::TimeDelta;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName};
use kernel::{Timestamp, token::Peppers};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::value::RawValue;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{TokenDigest, WebhookRefusal};

/// Header with the signature of one's own sender: `t=<unix seconds>,v1=<hex>`.
pub const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("service-signature");
/// Header with the token of a caller that cannot sign.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-service-token");
/// Headers with the token of a messaging service: the specification's name, and that of a real service.
pub const BOT_TOKEN_HEADERS: [HeaderName; 2] = [
    HeaderName::from_static("x-messenger-bot-secret-token"),
    HeaderName::from_static("x-telegram-bot-api-secret-token"),
];
/// Header with the signature of a code host: `sha256=<hex>`.
pub const HUB_SIGNATURE_HEADER: HeaderName = HeaderName::from_static("x-hub-signature-256");
/// Headers with the delivery id of a code host, which a redelivery repeats: the specification's name, and that of a
/// real code host.
pub const DELIVERY_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-code-host-delivery"), HeaderName::from_static("x-github-delivery")];

/// Largest difference between the time of a signature and the server's, in either direction.
pub const TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// Most signatures in a header: more than any rotation needs.
const MAX_SIGNATURES: usize = 16;

/// Bytes of an HMAC-SHA256.
pub type MacBytes = [u8; 32];

/// A verified signature, which identifies a signed request by its time and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedSignature {
    /// Time of the signature as the sender states it, in full seconds.
    pub signed_at: Timestamp,
    /// HMAC over the time and the body.
    pub mac: MacBytes,
}

/// Returns the value of a header that was sent exactly once, in visible ASCII.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn new_hmac(secret: &SecretString) -> Hmac<Sha256> {
    Hmac::new_from_slice(secret.expose_secret().as_bytes()).expect("HMAC takes a key of any length")
}

/// Returns true if `text` is the lower-case hexadecimal form of `mac`. Takes constant time for each text of the right
/// length.
fn is_hex_of(text: &str, mac: &MacBytes) -> bool {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut expected = [0_u8; 64];
    for (pair, byte) in expected.chunks_exact_mut(2).zip(mac) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    expected.as_slice().ct_eq(text.as_bytes()).into()
}

/// Verifies `Service-Signature`, and returns the signature by which a replay is recognized.
///
/// # Errors
/// [`WebhookRefusal::BadSignature`] when anything about it is wrong; [`WebhookRefusal::StaleTimestamp`] when it is
/// right, but its time differs from `now` by more than [`TOLERANCE`].
pub fn verify_signature(
    secret: &SecretString,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<VerifiedSignature, WebhookRefusal> {
    let header = single_header(headers, &SIGNATURE_HEADER).ok_or(WebhookRefusal::BadSignature)?;
    let mut time = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=') {
            // With a second time it would be unclear which of them was signed.
            Some(("t", _)) if time.is_some() => return Err(WebhookRefusal::BadSignature),
            Some(("t", value)) => time = Some(value),
            Some(("v1", value)) if signatures.len() < MAX_SIGNATURES => signatures.push(value),
            Some(("v1", _)) | None => return Err(WebhookRefusal::BadSignature),
            // Other schemes are ignored, so that new ones can be added.
            Some(_) => {}
        }
    }
    let time = time.ok_or(WebhookRefusal::BadSignature)?;
    if time.is_empty() || time.len() > 12 || !time.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(WebhookRefusal::BadSignature);
    }
    let mac = sign(secret, time, body);
    // Every signature is compared, so that the time taken does not tell which one matched.
    if !signatures.iter().fold(false, |found, text| found | is_hex_of(text, &mac)) {
        return Err(WebhookRefusal::BadSignature);
    }
    let signed_at = time.parse().ok().and_then(|seconds| Timestamp::from_timestamp(seconds, 0));
    let at = signed_at.ok_or(WebhookRefusal::BadSignature)?;
    if (now - at).abs() > TOLERANCE {
        Err(WebhookRefusal::StaleTimestamp)
    } else {
        Ok(VerifiedSignature { signed_at: at, mac })
    }
}

/// Returns the HMAC-SHA256 of `<time>.<body>`.
#[must_use]
pub fn sign(secret: &SecretString, time: &str, body: &[u8]) -> MacBytes {
    new_hmac(secret).chain_update(time).chain_update(b".").chain_update(body).finalize().into_bytes().into()
}

/// Returns the value of `Service-Signature` for a body.
#[must_use]
pub fn signature_header(secret: &SecretString, time: &str, body: &[u8]) -> String {
    format!("t={time},v1={}", hex(&sign(secret, time, body)))
}

/// Returns the value of `X-Hub-Signature-256` for a body.
#[must_use]
pub fn hub_signature_header(secret: &SecretString, body: &[u8]) -> String {
    let mac: MacBytes = new_hmac(secret).chain_update(body).finalize().into_bytes().into();
    format!("sha256={}", hex(&mac))
}

fn hex(mac: &MacBytes) -> String {
    use std::fmt::Write as _;
    mac.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Verifies `X-Hub-Signature-256`.
///
/// # Errors
/// [`WebhookRefusal::BadSignature`] when anything about it is wrong.
pub fn verify_hub_signature(
    secret: &SecretString,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), WebhookRefusal> {
    let header = single_header(headers, &HUB_SIGNATURE_HEADER).ok_or(WebhookRefusal::BadSignature)?;
    let text = header.strip_prefix("sha256=").ok_or(WebhookRefusal::BadSignature)?;
    let mac: MacBytes = new_hmac(secret).chain_update(body).finalize().into_bytes().into();
    if is_hex_of(text, &mac) { Ok(()) } else { Err(WebhookRefusal::BadSignature) }
}

/// Verifies the token in the one of these headers that was sent.
///
/// # Errors
/// [`WebhookRefusal::BadToken`] when the token is wrong or missing, or was sent more than once.
pub fn verify_token(
    peppers: &Peppers,
    token: &TokenDigest,
    headers: &HeaderMap,
    names: &[HeaderName],
) -> Result<(), WebhookRefusal> {
    let mut present = names.iter().filter(|name| headers.contains_key(*name));
    let (Some(name), None) = (present.next(), present.next()) else { return Err(WebhookRefusal::BadToken) };
    let given = single_header(headers, name).ok_or(WebhookRefusal::BadToken)?;
    if peppers.verify(given, &token.digest) { Ok(()) } else { Err(WebhookRefusal::BadToken) }
}

/// Returns a code host's id of this delivery. An id that was sent twice, is empty or has more than 255 bytes is
/// ignored.
#[must_use]
pub fn delivery_id(headers: &HeaderMap) -> Option<&str> {
    DELIVERY_HEADERS
        .iter()
        .find_map(|name| single_header(headers, name))
        .filter(|id| (1..=255).contains(&id.len()))
}

/// Returns a messaging service's number of this update, by which its retry is recognized.
#[must_use]
pub fn update_id(input: &RawValue) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Update {
        update_id: i64,
    }
    serde_json::from_str::<Update>(input.get()).ok().map(|update| update.update_id)
}

/// Returns the header `Idempotency-Key`, if it was sent.
///
/// # Errors
/// [`WebhookRefusal::InvalidIdempotencyKey`] unless it was sent once with 1 to 255 visible ASCII characters.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, WebhookRefusal> {
    const NAME: HeaderName = HeaderName::from_static("idempotency-key");
    if !headers.contains_key(&NAME) {
        return Ok(None);
    }
    single_header(headers, &NAME)
        .filter(|key| (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()))
        .map(Some)
        .ok_or(WebhookRefusal::InvalidIdempotencyKey)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"{\"a\":1}";

    fn secret() -> SecretString {
        SecretString::from("qws_test")
    }

    fn hex(mac: MacBytes) -> String {
        super::hex(&mac)
    }

    fn signed(header: &str, now: i64) -> Result<VerifiedSignature, WebhookRefusal> {
        let headers = HeaderMap::from_iter([(SIGNATURE_HEADER, header.parse().unwrap())]);
        verify_signature(&secret(), &headers, BODY, Timestamp::from_timestamp(now, 0).unwrap())
    }

    #[test]
    fn a_right_signature_is_accepted_within_the_tolerance() {
        let good = hex(sign(&secret(), "1000", BODY));
        for header in [
            format!("t=1000,v1={good}"),
            format!("v1={good},t=1000"),
            format!("t=1000, v1=00, v1={good}"),
            format!("t=1000,v0=x,v1={good},v2=y,v1=potato"),
        ] {
            for now in [700, 1000, 1300] {
                assert!(signed(&header, now).is_ok(), "{header} at {now}");
            }
            for now in [699, 1301] {
                assert!(
                    matches!(signed(&header, now), Err(WebhookRefusal::StaleTimestamp)),
                    "{header} at {now}"
                );
            }
        }
    }

    #[test]
    fn anything_else_is_a_bad_signature() {
        let good = hex(sign(&secret(), "1000", BODY));
        let many = format!("t=1000{},v1={good}", ",v1=00".repeat(1000));
        for header in [
            String::new(),
            "nonsense".to_owned(),
            format!("v1={good}"),
            "t=1000".to_owned(),
            format!("t=1000,v0={good}"),
            format!("t=1001,v1={good}"),
            format!("t=01000,v1={good}"),
            format!("t=1000,t=1000,v1={good}"),
            format!("t=NaN,v1={good}"),
            format!("t=-1000,v1={good}"),
            format!("t=99999999999999999999,v1={good}"),
            format!("t=1000,v1={}", good.to_uppercase()),
            format!("t=1000,v1={}", &good[..63]),
            format!("t=1000,v1={good}0"),
            many,
        ] {
            assert!(matches!(signed(&header, 1000), Err(WebhookRefusal::BadSignature)), "{header}");
        }
    }

    #[test]
    fn a_repeated_header_is_a_bad_signature() {
        let good = format!("t=1000,v1={}", hex(sign(&secret(), "1000", BODY)));
        let mut headers = HeaderMap::new();
        headers.append(SIGNATURE_HEADER, good.parse().unwrap());
        headers.append(SIGNATURE_HEADER, good.parse().unwrap());
        let now = Timestamp::from_timestamp(1000, 0).unwrap();
        assert!(matches!(
            verify_signature(&secret(), &headers, BODY, now),
            Err(WebhookRefusal::BadSignature)
        ));
    }

    #[test]
    fn a_code_hosts_signature_is_over_the_body_alone() {
        // The example of the code host's own documentation on validating deliveries.
        let secret = SecretString::from("It's a Secret to Everybody");
        let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let check = |value: &str, body: &[u8]| {
            let headers = HeaderMap::from_iter([(HUB_SIGNATURE_HEADER, value.parse().unwrap())]);
            verify_hub_signature(&secret, &headers, body)
        };
        assert!(check(right, b"Hello, World!").is_ok());
        assert!(check(right, b"Hello, World").is_err());
        assert!(check(&right[7..], b"Hello, World!").is_err());
        assert!(check(&format!("{right},{right}"), b"Hello, World!").is_err());
        assert!(verify_hub_signature(&secret, &HeaderMap::new(), b"").is_err());
    }

    #[test]
    fn a_bots_token_comes_once_under_either_name() {
        let peppers = Peppers::derive(&kernel::vault::MasterKeys::new(vec![[1; 32]]).unwrap());
        let token = TokenDigest { digest: peppers.digest("qwt_right"), hint: String::new() };
        let check = |sent: &[(usize, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(BOT_TOKEN_HEADERS[*name].clone(), value.parse().unwrap());
            }
            verify_token(&peppers, &token, &headers, &BOT_TOKEN_HEADERS).is_ok()
        };
        assert!(check(&[(0, "qwt_right")]) && check(&[(1, "qwt_right")]));
        for bad in [
            &[][..],
            &[(0, "")],
            &[(0, "qwt_wrong")],
            &[(0, "qwt_right"), (0, "qwt_right")],
            &[(0, "qwt_right"), (1, "qwt_right")],
            &[(0, "qwt_wrong"), (1, "qwt_right")],
        ] {
            assert!(!check(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_update_is_known_by_its_number() {
        let id = |json: &str| update_id(&RawValue::from_string(json.to_owned()).unwrap());
        assert_eq!(id(r#"{"message":{"update_id":1},"update_id":839402758}"#), Some(839_402_758));
        for none in [
            "null",
            "[]",
            "{}",
            r#"{"update_id":"1"}"#,
            r#"{"update_id":1.5}"#,
            r#"{"update_id":1,"update_id":2}"#,
        ] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn an_idempotency_key_must_be_usable() {
        let key = |value: &[u8]| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("idempotency-key"),
                http::HeaderValue::from_bytes(value).unwrap(),
            )]);
            idempotency_key(&headers).map(|key| key.map(str::to_owned))
        };
        assert_eq!(idempotency_key(&HeaderMap::new()).unwrap(), None);
        assert_eq!(key(b"order-1").unwrap().as_deref(), Some("order-1"));
        for bad in [&b""[..], b"a b", b"\xff", &[b'k'; 256]] {
            assert!(key(bad).is_err(), "{bad:?}");
        }
    }
}
