//! Parsing the body of a call into the input of the app.

use std::borrow::Cow;

use http::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use percent_encoding::percent_decode;
use serde_json::{Map, Value, value::RawValue};

use super::WebhookRefusal;

/// Most bytes of a body: 256 KiB.
pub const MAX_BODY: usize = 256 << 10;

/// Most levels of nesting in JSON: more than any sender needs, and fewer than a parser's stack allows.
const MAX_NESTING_DEPTH: usize = 128;
/// Most fields of a form body.
const MAX_FIELDS: usize = 1000;

/// Media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`, `text/json`, or any type that ends with `+json` (RFC 6839).
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
}

/// Returns the media type of a body. An empty body needs no `Content-Type`.
///
/// # Errors
/// [`WebhookRefusal::UnsupportedMediaType`] for anything but JSON and a form, [`WebhookRefusal::UnsupportedEncoding`]
/// for a body that is compressed.
pub fn media_type(headers: &HeaderMap, body: &[u8]) -> Result<MediaType, WebhookRefusal> {
    let plain = |coding: &[u8]| {
        let coding = coding.trim_ascii();
        coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
    };
    let mut codings = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    if !codings.all(plain) {
        return Err(WebhookRefusal::UnsupportedEncoding);
    }
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return if body.is_empty() { Ok(MediaType::Json) } else { Err(WebhookRefusal::UnsupportedMediaType) };
    };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if is_json(essence) {
        Ok(MediaType::Json)
    } else if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        Ok(MediaType::Form)
    } else {
        Err(WebhookRefusal::UnsupportedMediaType)
    }
}

fn is_json(essence: &str) -> bool {
    if essence.eq_ignore_ascii_case("application/json") || essence.eq_ignore_ascii_case("text/json") {
        return true;
    }
    let Some((kind, name)) = essence.split_once('/') else { return false };
    let token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let suffix = name.len().checked_sub("+json".len()).and_then(|at| name.get(at..));
    token(kind)
        && token(name)
        && name.len() > "+json".len()
        && suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("+json"))
}

/// Parses a body: JSON is kept as it is, a form becomes an object, and an empty body `null`. A byte order mark before it is
/// ignored (RFC 8259, section 8.1).
///
/// A code host that sends a form puts its JSON into the field `payload`, which is the input then.
///
/// # Errors
/// [`WebhookRefusal::InvalidBody`] when it does not parse, or is not UTF-8.
pub fn parse(
    media_type: MediaType,
    body: &[u8],
    is_from_code_host: bool,
) -> Result<Box<RawValue>, WebhookRefusal> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if body.is_empty() {
        return Ok(RawValue::NULL.to_owned());
    }
    match media_type {
        MediaType::Json => parse_json(body),
        MediaType::Form => {
            let fields = parse_form(body)?;
            match fields.get("payload") {
                Some(Value::String(payload)) if is_from_code_host && fields.len() == 1 => {
                    parse_json(payload.as_bytes())
                }
                _ => serde_json::value::to_raw_value(&fields)
                    .map_err(|error| WebhookRefusal::InvalidBody(error.to_string())),
            }
        }
    }
}

fn parse_json(body: &[u8]) -> Result<Box<RawValue>, WebhookRefusal> {
    if nesting_depth(body) > MAX_NESTING_DEPTH {
        return Err(WebhookRefusal::InvalidBody(format!("it is nested deeper than {MAX_NESTING_DEPTH}")));
    }
    serde_json::from_slice::<&RawValue>(body)
        .map(ToOwned::to_owned)
        .map_err(|error| WebhookRefusal::InvalidBody(error.to_string()))
}

/// Returns the depth of brackets outside of strings. The result is meaningful for valid JSON only.
fn nesting_depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Parses a form into an object. The values of a repeated field become an array.
fn parse_form(body: &[u8]) -> Result<Map<String, Value>, WebhookRefusal> {
    let mut fields = Map::new();
    let pairs = body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    for (count, pair) in pairs.enumerate() {
        if count == MAX_FIELDS {
            return Err(WebhookRefusal::InvalidBody(format!("it has more than {MAX_FIELDS} fields")));
        }
        let (name, value) = decode_pair(pair, count + 1)?;
        let (name, value) = (Cow::<str>::Owned(name), Value::String(value));
        match fields.get_mut(&*name) {
            None => {
                fields.insert(name.into_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(fields)
}

/// Decodes a name and its value. A text in another encoding is refused: replacing its letters would lose them.
fn decode_pair(pair: &[u8], number: usize) -> Result<(String, String), WebhookRefusal> {
    let mut parts = pair.splitn(2, |byte| *byte == b'=');
    let mut decode = || {
        let part: Vec<u8> = parts
            .next()
            .unwrap_or_default()
            .iter()
            .map(|byte| if *byte == b'+' { b' ' } else { *byte })
            .collect();
        let text = percent_decode(&part).decode_utf8().map(Cow::into_owned);
        text.map_err(|_| WebhookRefusal::InvalidBody(format!("field {number} is not UTF-8")))
    };
    Ok((decode()?, decode()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(media_type: MediaType, body: &[u8]) -> Result<String, WebhookRefusal> {
        parse(media_type, body, false).map(|raw| raw.get().to_owned())
    }

    #[test]
    fn a_mark_is_ignored_and_other_encodings_are_refused() {
        assert_eq!(text(MediaType::Json, b"\xef\xbb\xbf{\"a\":1}").unwrap(), r#"{"a":1}"#);
        assert_eq!(text(MediaType::Form, b"\xef\xbb\xbfa=1&b=x+%26").unwrap(), r#"{"a":"1","b":"x &"}"#);
        assert_eq!(text(MediaType::Json, b"\xef\xbb\xbf").unwrap(), "null");
        for (kind, body) in [
            (MediaType::Form, &b"a=%D7%E0%E9"[..]),
            (MediaType::Form, b"a=1&\xd7=2"),
            (MediaType::Json, b"\"\xd7\xe0\xe9\""),
            (MediaType::Json, b"\xff\xfe{\0}\0"),
        ] {
            assert!(matches!(text(kind, body), Err(WebhookRefusal::InvalidBody(_))), "{body:?}");
        }
    }

    #[test]
    fn a_code_host_may_send_its_json_in_a_form() {
        let parse_from = |body: &str, is_from_code_host| {
            parse(MediaType::Form, body.as_bytes(), is_from_code_host).map(|raw| raw.get().to_owned())
        };
        let form = "payload=%7B%22ref%22%3A%22main%22%7D";
        assert_eq!(parse_from(form, true).unwrap(), r#"{"ref":"main"}"#);
        assert_eq!(parse_from(form, false).unwrap(), r#"{"payload":"{\"ref\":\"main\"}"}"#);
        assert_eq!(parse_from("payload=1&x=2", true).unwrap(), r#"{"payload":"1","x":"2"}"#);
        assert!(parse_from("payload=%7B", true).is_err());
    }

    #[test]
    fn json_has_many_names_and_no_compression() {
        let of = |name: &'static str, value: &str| {
            let kind = if name == "content-type" { value } else { "application/json" };
            let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
            headers.insert(name, value.parse().unwrap());
            media_type(&headers, b"{}")
        };
        for json in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "text/json",
            "application/cloudevents+json",
            "application/cloudevents-batch+json; charset=UTF-8",
            "application/vnd.api+JSON",
            "application/ld+json",
        ] {
            assert!(matches!(of("content-type", json), Ok(MediaType::Json)), "{json}");
        }
        for other in [
            "text/plain",
            "application/jsonp",
            "+json",
            "application/+json",
            "json",
            "a b/c+json",
            "application/x+jsonp",
        ] {
            assert!(
                matches!(of("content-type", other), Err(WebhookRefusal::UnsupportedMediaType)),
                "{other}"
            );
        }
        for plain in ["", "identity", "Identity", "identity, identity"] {
            assert!(of("content-encoding", plain).is_ok(), "{plain}");
        }
        for coded in ["gzip", "br", "deflate", "zstd", "identity, gzip", "x"] {
            assert!(
                matches!(of("content-encoding", coded), Err(WebhookRefusal::UnsupportedEncoding)),
                "{coded}"
            );
        }
    }

    #[test]
    fn json_stays_as_it_is() {
        assert_eq!(
            text(MediaType::Json, b" {\"n\": 12345678901234567890.5} ").unwrap(),
            "{\"n\": 12345678901234567890.5}"
        );
        assert_eq!(text(MediaType::Json, b"").unwrap(), "null");
        for bad in [&b"{"[..], b"{} {}", b"\xff", b"{'a':1}", b"nul", b"[1,]"] {
            assert!(text(MediaType::Json, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn deep_json_is_refused_and_brackets_in_strings_do_not_count() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(text(MediaType::Json, nested(128).as_bytes()).is_ok());
        assert!(text(MediaType::Json, nested(129).as_bytes()).is_err());
        let string = format!("\"\\\"{}\"", "[".repeat(500));
        assert!(text(MediaType::Json, string.as_bytes()).is_ok());
    }

    #[test]
    fn a_form_becomes_an_object() {
        assert_eq!(
            text(MediaType::Form, b"a=1&b=x+y&a=2&a=%C3%A9").unwrap(),
            r#"{"a":["1","2","é"],"b":"x y"}"#
        );
        assert_eq!(text(MediaType::Form, b"").unwrap(), "null");
        assert!(text(MediaType::Form, "a=1&".repeat(1001).as_bytes()).is_err());
    }

    #[test]
    fn the_media_type_is_read_without_its_parameters() {
        let with =
            |value: &str| media_type(&HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]), b"x");
        assert_eq!(with("Application/JSON; charset=utf-8").unwrap(), MediaType::Json);
        assert_eq!(with("application/x-www-form-urlencoded").unwrap(), MediaType::Form);
        for other in ["text/plain", "application/jsonp", "multipart/form-data; boundary=x", ""] {
            assert!(with(other).is_err(), "{other}");
        }
        assert!(media_type(&HeaderMap::new(), b"x").is_err());
        assert!(media_type(&HeaderMap::new(), b"").is_ok());
    }
}
