//! Reads a JSON-RPC message before the protocol library does.
//!
//! The library refuses what it cannot deserialize as a whole, in words about its own types. Here every part is named. What
//! is passed on is the parsed message, so that the scope check and the library read the same one.

use axum::http::StatusCode;
use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::{Map, Value, json};

use super::refusal::{Refusal, excerpt};

/// Byte order mark of UTF-8, which a parser of JSON may ignore (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Most characters of an id.
const MAX_ID_CHARS: usize = 255;
/// Key of the protocol version in the metadata of a request (2026-07-28).
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Methods of requests that this server has.
const METHODS: [&str; 5] = ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// A request or notification of a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    json: Map<String, Value>,
}

impl Message {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// [`Refusal`] that says what is wrong with the message.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let mut json = match parse_json(body)? {
            Value::Object(json) => json,
            Value::Array(_) => {
                return Err(bad_request(
                    "Batches are not supported, whatever the protocol version. Send one message in each request.",
                ));
            }
            _ => return Err(bad_request("A message must be a JSON object.")),
        };
        let id = read_id(&json)?;
        let refuse = |refusal: Refusal| refusal.with_id(id.as_ref());
        if json.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(refuse(bad_request("`jsonrpc` must be \"2.0\".")));
        }
        match json.get("method") {
            Some(Value::String(method)) if !method.is_empty() => {}
            None if json.contains_key("result") || json.contains_key("error") => {
                return Err(refuse(bad_request(
                    "The server sends no requests, so it takes no responses. Send a request or a notification.",
                )));
            }
            _ => return Err(refuse(bad_request("`method` must be a text that is not empty."))),
        }
        if json.get("params").is_some_and(Value::is_null) {
            json.remove("params");
        }
        let mut message = Self { json };
        message.check_params().map_err(|refusal| {
            // Nobody waits for the response to a notification, so only the status tells of an error.
            let status = if id.is_none() { StatusCode::BAD_REQUEST } else { refusal.status };
            refuse(Refusal { status, ..refusal })
        })?;
        Ok(message)
    }

    /// Returns the message as JSON.
    pub(super) fn to_json(&self) -> String {
        Value::Object(self.json.clone()).to_string()
    }

    /// Returns the id; `None` for a notification.
    pub(super) fn id(&self) -> Option<&Value> {
        self.json.get("id")
    }

    /// Returns the name of the tool that the message calls.
    pub(super) fn called_tool(&self) -> Option<&str> {
        let name = self.params().and_then(|params| params.get("name")).and_then(Value::as_str);
        name.filter(|_| self.method() == "tools/call")
    }

    /// Checks the protocol version that the message or the header names.
    ///
    /// # Errors
    /// [`Refusal`] if the server does not speak it.
    pub(super) fn check_version(&self, header: Option<&str>) -> Result<(), Refusal> {
        // The handshake negotiates the version.
        if self.method() == "initialize" {
            return Ok(());
        }
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let Some(version) = self.own_version().or(header) else { return Ok(()) };
        if known.iter().any(|known| known.as_str() == version) {
            return Ok(());
        }
        let versions: Vec<&str> = known.iter().map(ProtocolVersion::as_str).collect();
        let requested = excerpt(version);
        let message = format!(
            "The protocol version `{requested}` is not supported. Use one of {}.",
            versions.join(", ")
        );
        let data = json!({ "supported": versions, "requested": requested });
        let refusal = Refusal {
            code: ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            data: Some(data),
            ..bad_request(message)
        };
        Err(refusal.with_id(self.id()))
    }

    fn method(&self) -> &str {
        self.json.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    fn params(&self) -> Option<&Map<String, Value>> {
        self.json.get("params").and_then(Value::as_object)
    }

    /// Returns the protocol version of the request itself, which those of 2026-07-28 and later have.
    fn own_version(&self) -> Option<&str> {
        self.params()?.get("_meta")?.get(VERSION_KEY)?.as_str()
    }

    /// Checks that the parameters have the types that the method demands, and removes what is null.
    fn check_params(&mut self) -> Result<(), Refusal> {
        let params = self.json.get_mut("params");
        if params.as_ref().is_some_and(|params| !params.is_object()) {
            return Err(invalid_params("`params` must be an object."));
        }
        if let Some(Value::Object(params)) = params {
            // Several clients write null for what they leave out.
            params.retain(|_, value| !value.is_null());
            if params.get("_meta").is_some_and(|meta| !meta.is_object()) {
                return Err(invalid_params("`params._meta` must be an object."));
            }
        }
        // Notifications are accepted whatever they are about.
        if self.id().is_none() {
            return Ok(());
        }
        let method = self.method().to_owned();
        let params = self.params();
        let text = |name: &str| params.and_then(|params| params.get(name)).map(Value::as_str);
        match method.as_str() {
            "initialize" => {
                let Some(Some(version)) = text("protocolVersion") else {
                    return Err(invalid_params("`params.protocolVersion` is required, and must be a text."));
                };
                // The server uses nothing else of the client. What clients write about themselves differs by version.
                let params = json!({
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": { "name": "client", "version": "0" },
                });
                self.json.insert("params".to_owned(), params);
            }
            "tools/call" => {
                if text("name").flatten().is_none_or(str::is_empty) {
                    return Err(invalid_params("`params.name` is required: the name of a tool."));
                }
                let arguments = params.and_then(|params| params.get("arguments"));
                if arguments.is_some_and(|arguments| !arguments.is_object()) {
                    return Err(invalid_params("`params.arguments` must be an object."));
                }
            }
            "tools/list" if text("cursor").is_some_and(|cursor| cursor.is_none()) => {
                return Err(invalid_params("`params.cursor` must be a text."));
            }
            known if METHODS.contains(&known) => {}
            unknown => return Err(self.unknown_method(unknown)),
        }
        Ok(())
    }

    fn unknown_method(&self, method: &str) -> Refusal {
        let message =
            format!("There is no method `{}`. This server has {}.", excerpt(method), METHODS.join(", "));
        let refusal = Refusal::of_request(ErrorCode::METHOD_NOT_FOUND, message);
        // The generation without a handshake maps this error to a status.
        if self.own_version().is_some() {
            Refusal { status: StatusCode::NOT_FOUND, ..refusal }
        } else {
            refusal
        }
    }
}

fn parse_json(body: &[u8]) -> Result<Value, Refusal> {
    let parse_error = |message: String| Refusal { code: ErrorCode::PARSE_ERROR, ..bad_request(message) };
    if body.trim_ascii().is_empty() {
        return Err(parse_error("The body is empty. Send one JSON-RPC message.".to_owned()));
    }
    let text = std::str::from_utf8(body)
        .map_err(|error| parse_error(format!("The body is not UTF-8: byte {}.", error.valid_up_to() + 1)))?;
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        parse_error(format!("The body cannot be read as JSON: line {line}, column {column}."))
    })
}

/// Returns the id of a message; `None` if it has none.
fn read_id(json: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let rule = "`id` must be a text or a whole number; leave it out in a notification.";
    match json.get("id") {
        None => Ok(None),
        Some(Value::String(id)) if id.chars().count() > MAX_ID_CHARS => {
            Err(bad_request(format!("`id` must have at most {MAX_ID_CHARS} characters.")))
        }
        Some(Value::Number(number)) if !is_integer(number) => Err(bad_request(rule)),
        Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Some(id.clone())),
        Some(_) => Err(bad_request(rule)),
    }
}

/// Returns true for whole numbers whose digits are kept.
fn is_integer(number: &serde_json::Number) -> bool {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    number.is_i64() || number.as_f64().is_some_and(|value| value.fract() == 0.0 && value.abs() < MAX_EXACT)
}

fn bad_request(message: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::invalid_request(StatusCode::BAD_REQUEST, message)
}

fn invalid_params(message: &'static str) -> Refusal {
    Refusal::of_request(ErrorCode::INVALID_PARAMS, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: impl AsRef<[u8]>) -> (u16, i32, String) {
        let refusal = Message::parse(body.as_ref()).unwrap_err();
        (refusal.status.as_u16(), refusal.code.0, refusal.message.into_owned())
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        for (body, says) in [
            (&b""[..], "empty"),
            (b" \n\t", "empty"),
            (b"\xef\xbb\xbf", "empty"),
            (b"{", "line 1, column 1"),
            (b"{}\n{}", "line 2, column 1"),
            (b"jsonrpc=2.0&method=ping", "line 1, column 1"),
            (b"{\"id\":1e999}", "line 1"),
            (br#"{"id":"\ud800"}"#, "line 1"),
            (b"{\"id\":\"\xff\"}", "not UTF-8: byte 8"),
            (b"\xff\xfe{\0}\0", "not UTF-8: byte 1"),
            (b"\xef\xbb\xbf\xef\xbb\xbf{}", "line 1"),
        ] {
            let (status, code, message) = refusal(body);
            assert_eq!((status, code), (400, -32700), "{message}");
            assert!(message.contains(says), "{message}");
        }
        assert_eq!(refusal("[".repeat(10_000)).1, -32700);
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for (body, says) in [
            (json!([]), "Batches"),
            (json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]), "Batches"),
            (json!("ping"), "object"),
            (json!(null), "object"),
            (json!({}), "`jsonrpc`"),
            (json!({"jsonrpc": 2.0, "id": 1, "method": "ping"}), "`jsonrpc`"),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), "`jsonrpc`"),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": true, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": [1], "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": 1e30, "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": "x".repeat(256), "method": "ping"}), "`id`"),
            (json!({"jsonrpc": "2.0", "id": 1}), "`method`"),
            (json!({"jsonrpc": "2.0", "id": 1, "method": 5}), "`method`"),
            (json!({"jsonrpc": "2.0", "id": 1, "method": ""}), "`method`"),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), "no responses"),
            (json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}), "no responses"),
        ] {
            let (status, code, message) = refusal(body.to_string());
            assert_eq!((status, code), (400, -32600), "{body}");
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn parameters_are_refused_by_name() {
        for (method, params, code, says) in [
            ("ping", json!([]), -32602, "`params`"),
            ("ping", json!("x"), -32602, "`params`"),
            ("ping", json!({"_meta": 1}), -32602, "`params._meta`"),
            ("initialize", json!({}), -32602, "`params.protocolVersion`"),
            ("initialize", json!({"protocolVersion": 1}), -32602, "`params.protocolVersion`"),
            ("tools/call", json!({}), -32602, "`params.name`"),
            ("tools/call", json!({"name": 7}), -32602, "`params.name`"),
            ("tools/call", json!({"name": "whoami", "arguments": "{}"}), -32602, "`params.arguments`"),
            ("tools/call", json!({"name": "whoami", "arguments": []}), -32602, "`params.arguments`"),
            ("tools/list", json!({"cursor": 1}), -32602, "`params.cursor`"),
            ("tools/List", json!({}), -32601, "`tools/List`"),
            ("prompts/list", json!({}), -32601, "tools/call"),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
            let refusal = Message::parse(body.to_string().as_bytes()).unwrap_err();
            assert_eq!((refusal.status, refusal.code.0), (StatusCode::OK, code), "{body}");
            assert_eq!(refusal.id, Some(json!("a")));
            assert!(refusal.message.contains(says), "{}", refusal.message);
        }
        let long = json!({"jsonrpc": "2.0", "id": 1, "method": "x\n".repeat(10_000)});
        assert!(refusal(long.to_string()).2.len() < 300);
    }

    #[test]
    fn what_clients_leave_out_or_say_of_themselves_does_not_matter() {
        for body in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null}),
            json!({"jsonrpc": "2.0", "id": 1.0, "method": "tools/list", "params": {"cursor": null, "_meta": null}}),
            json!({"jsonrpc": "2.0", "id": -1, "method": "tools/call", "params": {"name": "x", "arguments": null}}),
            json!({"jsonrpc": "2.0", "method": "notifications/of-the-future", "params": {"cursor": 1}}),
            json!({"jsonrpc": "2.0", "id": "", "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": [], "clientInfo": 1}}),
        ] {
            Message::parse(body.to_string().as_bytes())
                .unwrap_or_else(|refusal| panic!("{body}: {refusal:?}"));
        }
        let marked = b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n";
        assert_eq!(Message::parse(marked).unwrap().id(), Some(&json!(1)));
    }

    #[test]
    fn a_member_that_occurs_twice_has_one_meaning() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"a","name":"b"}}"#;
        let message = Message::parse(body).unwrap();
        assert_eq!(message.called_tool(), Some("b"));
        assert_eq!(Message::parse(message.to_json().as_bytes()).unwrap(), message);
        assert_eq!(message.to_json().matches("method").count(), 1);
    }

    #[test]
    fn versions_that_are_not_known_are_refused() {
        let ping = |params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params});
        let check =
            |body: Value, header| Message::parse(body.to_string().as_bytes()).unwrap().check_version(header);
        for header in [None, Some("2025-03-26"), Some("2026-07-28")] {
            check(ping(json!({})), header).unwrap();
        }
        let refused = check(ping(json!({})), Some("2099-01-01")).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.code.0, refused.id), (400, -32022, Some(json!(1))));
        assert!(refused.message.contains("2099-01-01") && refused.message.contains("2025-11-25"));
        let own = ping(json!({"_meta": {VERSION_KEY: "soon"}}));
        assert!(check(own, Some("2026-07-28")).unwrap_err().message.contains("`soon`"));
        let hello =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "1"}});
        check(hello, Some("1")).unwrap();
    }
}
