//! Creating a gate.

use kernel::{Context, StoreError, authority::Admin};
use serde_json::json;

use super::{ConnectionsTx, Gate, GateError, InvalidGate, MAX_GATES, Method};
use crate::host::GateHost;

/// Characters of a name.
const MAX_NAME_CHARS: usize = 60;

/// Input of [`create_gate`].
#[derive(Debug, Clone)]
pub struct CreateGate {
    /// Host that the gate is to allow.
    pub host: String,
    /// Methods that the gate is to allow; all if `None`.
    pub methods: Option<Vec<Method>>,
    /// Display name; the host if `None`.
    pub name: Option<String>,
}

/// Creates an open gate in the admin's workspace.
///
/// # Errors
/// * [`GateError::InvalidInput`] when a value is refused
/// * [`GateError::AlreadyExists`] when the workspace has a gate to the host
/// * [`GateError::TooManyGates`] when the workspace has [`MAX_GATES`]
/// * [`GateError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_gate(
    tx: &mut dyn ConnectionsTx,
    ctx: &Context,
    admin: &Admin,
    input: CreateGate,
) -> Result<Gate, GateError> {
    let workspace = admin.workspace();
    let host = GateHost::parse(&input.host).map_err(InvalidGate::Host)?;
    let methods = normal_methods(input.methods)?;
    let name = normal_name(input.name, &host)?;
    if tx.count_gates(workspace).await? >= MAX_GATES {
        return Err(GateError::TooManyGates);
    }
    let gate = Gate::new_open(ctx, workspace, name, host, methods);
    match tx.insert_gate(&gate).await {
        Err(StoreError::Duplicate) => return Err(GateError::AlreadyExists),
        inserted => inserted?,
    }
    let detail = json!({ "host": gate.host.as_str(), "status": gate.status.as_str() });
    tx.audit(ctx.audit_entry("gate.create").workspace(workspace).target(gate.id).detail(detail));
    Ok(gate)
}

/// Returns each method once, in the order of [`Method`].
fn normal_methods(methods: Option<Vec<Method>>) -> Result<Vec<Method>, InvalidGate> {
    let mut methods = methods.unwrap_or_else(|| Method::ALL.to_vec());
    if !(1..=Method::ALL.len()).contains(&methods.len()) {
        return Err(InvalidGate::Methods);
    }
    methods.sort_unstable();
    methods.dedup();
    Ok(methods)
}

fn normal_name(name: Option<String>, host: &GateHost) -> Result<String, InvalidGate> {
    let Some(name) = name else { return Ok(host.as_str().chars().take(MAX_NAME_CHARS).collect()) };
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS || !kernel::text::is_visible_line(name) {
        return Err(InvalidGate::Name);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use kernel::{
        AuditTarget,
        authority::Role,
        testing::{id, member},
    };

    use super::*;
    use crate::{
        gates::GateStatus,
        host::InvalidHost,
        testing::{FakeStore, open_gate, request, workspace},
    };

    fn input(host: &str) -> CreateGate {
        CreateGate { host: host.to_owned(), methods: None, name: None }
    }

    async fn create(tx: &mut FakeStore, input: CreateGate) -> Result<Gate, GateError> {
        let ctx = request();
        let admin = member(&ctx, workspace(), Role::Admin).require_admin().unwrap();
        create_gate(tx, &ctx, &admin, input).await
    }

    #[tokio::test]
    async fn an_admin_creates_an_open_gate_and_its_host_is_normal() {
        let mut tx = FakeStore::with_gates([Gate { workspace: id(9), ..open_gate(1, "api.example.com") }]);
        let gate = create(&mut tx, input("API.Example.com.")).await.unwrap();
        assert_eq!((gate.host.as_str(), gate.name.as_str()), ("api.example.com", "api.example.com"));
        assert_eq!((gate.workspace, gate.status, gate.connection), (workspace(), GateStatus::Open, None));
        assert_eq!(gate.methods, Method::ALL);
        assert_eq!(tx.gates.last(), Some(&gate));
        let entry = tx.work.audit.pop().unwrap();
        assert_eq!((&*entry.action, entry.target), ("gate.create", Some(AuditTarget(gate.id.to_string()))));
        assert_eq!(entry.detail, Some(json!({ "host": "api.example.com", "status": "open" })));
    }

    #[tokio::test]
    async fn methods_are_kept_once_and_in_order() {
        let mut tx = FakeStore::default();
        let methods = Some(vec![Method::Post, Method::Get, Method::Post]);
        let named = CreateGate { methods, name: Some(" Orders ".to_owned()), ..input("api.example.com") };
        let gate = create(&mut tx, named).await.unwrap();
        assert_eq!((gate.methods, &*gate.name), (vec![Method::Get, Method::Post], "Orders"));
    }

    #[tokio::test]
    async fn refused_values_write_nothing() {
        let methods =
            |count| CreateGate { methods: Some(vec![Method::Get; count]), ..input("api.example.com") };
        let name = |name: &str| CreateGate { name: Some(name.to_owned()), ..input("api.example.com") };
        for (refused, why) in [
            (input("127.0.0.1"), InvalidGate::Host(InvalidHost::IpAddress)),
            (input("printer.local"), InvalidGate::Host(InvalidHost::Internal)),
            (input("https://api.example.com"), InvalidGate::Host(InvalidHost::Malformed)),
            (methods(0), InvalidGate::Methods),
            (methods(8), InvalidGate::Methods),
            (name("  "), InvalidGate::Name),
            (name("a\u{7}b"), InvalidGate::Name),
            (name(&"ж".repeat(61)), InvalidGate::Name),
        ] {
            let mut tx = FakeStore::default();
            let error = create(&mut tx, refused.clone()).await.unwrap_err();
            assert!(
                matches!(&error, GateError::InvalidInput(found) if *found == why),
                "{refused:?}: {error}"
            );
            assert!(tx.gates.is_empty() && tx.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_host_has_one_gate_and_a_workspace_a_bounded_number() {
        let mut tx = FakeStore::with_gates([open_gate(1, "api.example.com")]);
        let again = create(&mut tx, input("api.example.com")).await;
        assert!(matches!(again, Err(GateError::AlreadyExists)), "{again:?}");
        let gates = (0..MAX_GATES).map(|number| open_gate(number.into(), &format!("h{number}.example.com")));
        let mut tx = FakeStore::with_gates(gates);
        let more = create(&mut tx, input("api.example.com")).await;
        assert!(matches!(more, Err(GateError::TooManyGates)), "{more:?}");
        assert!(tx.work.audit.is_empty());
    }
}
