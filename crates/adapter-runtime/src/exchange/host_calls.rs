//! Host calls of app code: carried out on the host, with bounds on their size.

use runs::engine::{ApprovalQuestion, DataCall, FetchBody, FetchRequest, FetchResponse, Host, HostError};
use secrecy::ExposeSecret as _;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::response_bodies::BodyStream;
use crate::protocol::{FetchedHead, HostCall, HostCallOutput, Request, SecretText};

/// Bytes of a response's body that is not streamed; at most. The host bounds bodies on its own.
const MAX_COLLECTED: usize = 16 << 20;

/// The result of a call.
pub(super) enum CallResult {
    Output(HostCallOutput),
    /// A response whose body is still coming.
    Streamed(FetchedHead, BodyStream),
}

/// Returns the bytes that a call holds in memory while it waits.
pub(super) fn call_size(call: &HostCall) -> usize {
    match call {
        HostCall::Fetch { request, .. } => {
            let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            request.url.len() + headers + request.body.len()
        }
        HostCall::Data { key, values, .. } => key.len() + values.len(),
        HostCall::Secret { name, uses } => name.len() + uses.len(),
        HostCall::Approval { title, detail } => title.len() + detail.as_ref().map_or(0, String::len),
    }
}

/// Carries a call out; a streamed request has its body in `streamed`.
pub(super) async fn execute_call(
    host: &dyn Host,
    call: HostCall,
    streamed: Option<FetchBody>,
) -> Result<CallResult, HostError> {
    let output = match call {
        HostCall::Fetch { connection, request, redirect, .. } => {
            let Request { method, url, headers, body } = request;
            let body = streamed.unwrap_or(FetchBody::Complete(body));
            let request = FetchRequest { method, url, headers, body, redirect };
            let response = match connection {
                None => host.fetch(request).await?,
                Some(name) => host.connection_fetch(&name, request).await?,
            };
            return Ok(from_response(response));
        }
        HostCall::Data { project, op, table, key, values } => {
            let call = data_call(&op, table, key, values)?;
            HostCallOutput::Json(host.data(&project, call).await?.get().to_owned())
        }
        HostCall::Secret { name, uses } => {
            let secret = host.secret_key(&name, &uses).await?;
            let text = SecretText(Zeroizing::new(secret.expose_secret().to_owned()));
            HostCallOutput::Secret { text, uses }
        }
        HostCall::Approval { title, detail } => {
            let answer = host.approval(ApprovalQuestion { title, detail }).await?;
            HostCallOutput::Json(answer.get().to_owned())
        }
    };
    Ok(CallResult::Output(output))
}

fn from_response(response: FetchResponse) -> CallResult {
    let FetchResponse { status, headers, body, redirected_to } = response;
    let head = FetchedHead { status, headers, redirected_to };
    match body {
        FetchBody::Complete(body) => CallResult::Output(HostCallOutput::Response(head, body)),
        FetchBody::Stream(pieces) => CallResult::Streamed(head, pieces),
    }
}

/// Reads a streamed body to its end.
pub(super) async fn collect_body(head: FetchedHead, pieces: BodyStream) -> Result<CallResult, HostError> {
    let body = FetchBody::Stream(pieces).collect(MAX_COLLECTED).await?;
    Ok(CallResult::Output(HostCallOutput::Response(head, body)))
}

fn data_call(op: &str, table: String, key: String, values: String) -> Result<DataCall, HostError> {
    let json = |text| {
        RawValue::from_string(text).map_err(|_| host_error("invalid_request", "the values are not JSON"))
    };
    Ok(match op {
        "select" => DataCall::Select { table, query: key },
        "get" => DataCall::Get { table, id: key },
        "insert" => DataCall::Insert { table, rows: json(values)? },
        "update" => DataCall::Update { table, query: key, values: json(values)? },
        "delete" => DataCall::Delete { table, query: key },
        _ => return Err(host_error("invalid_request", "there is no such operation")),
    })
}

/// An error with a code of the host's own.
pub(super) fn host_error(code: &str, message: &str) -> HostError {
    HostError { code: code.to_owned(), message: message.to_owned() }
}
