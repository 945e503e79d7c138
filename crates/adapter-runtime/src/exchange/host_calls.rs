//! Host calls of app code: carried out on the host, with bounds on their size.

use runs::engine::{ApprovalQuestion, DataCall, Host, HostError};
use secrecy::ExposeSecret as _;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::protocol::{HostCall, HostCallOutput, SecretText};

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

/// Carries a call out.
pub(super) async fn execute_call(host: &dyn Host, call: HostCall) -> Result<HostCallOutput, HostError> {
    match call {
        HostCall::Fetch { connection: None, request } => {
            host.fetch(request.into()).await.map(|response| HostCallOutput::Response(response.into()))
        }
        HostCall::Fetch { connection: Some(name), request } => host
            .connection_fetch(&name, request.into())
            .await
            .map(|response| HostCallOutput::Response(response.into())),
        HostCall::Data { project, op, table, key, values } => {
            let call = data_call(&op, table, key, values)?;
            host.data(&project, call).await.map(|json| HostCallOutput::Json(json.get().to_owned()))
        }
        HostCall::Secret { name, uses } => {
            let secret = host.secret_key(&name, &uses).await?;
            let text = SecretText(Zeroizing::new(secret.expose_secret().to_owned()));
            Ok(HostCallOutput::Secret { text, uses })
        }
        HostCall::Approval { title, detail } => {
            let answer = host.approval(ApprovalQuestion { title, detail }).await;
            answer.map(|json| HostCallOutput::Json(json.get().to_owned()))
        }
    }
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
