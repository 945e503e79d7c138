//! Gates on the wire.

use std::collections::BTreeSet;

use application::{Problem, Tx};
use connections::gates::{Gate, GateStatus, GateView, Method};
use kernel::{
    Context,
    authority::{Member, Role},
    id::{AppId, ConnectionId, GateId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        conditional::{Representation, TaggedItem},
        schemas,
    },
    routes::connections::visible_apps,
    state::Api,
};

/// The permission of a workspace's apps to reach one host.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Gate)]
pub(crate) struct GateItem {
    id: GateId,
    name: String,
    host: String,
    #[schema(value_type = Vec<schemas::connections::Method>)]
    methods: Vec<Method>,
    #[schema(required)]
    connection_id: Option<ConnectionId>,
    #[schema(value_type = schemas::connections::GateStatus)]
    status: GateStatus,
    /// Apps whose current manifest names the host or the connection, and that you may see.
    app_ids: Vec<AppId>,
    /// Number of requests to the host that were refused in the last 24 hours.
    #[serde(rename = "blocked24h")]
    blocked_24h: u64,
    /// Entity tag. Send it in `If-Match` with a change, to change only what you have seen.
    #[schema(pattern = "^\"[0-9a-f]{32}\"$")]
    etag: String,
}

impl Representation for GateItem {
    const COMPUTED: &'static [&'static str] = &["appIds", "blocked24h", "etag"];
}

impl TaggedItem for GateItem {
    fn etag_mut(&mut self) -> &mut String {
        &mut self.etag
    }
}

impl GateItem {
    /// Returns a gate of the member's workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `gate_not_found` if there is none; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        member: &Member,
        id: GateId,
    ) -> Result<Option<Self>, Problem> {
        let gate = tx.gate(member.workspace(), id).await?.ok_or_else(|| Problem::not_found("gate"))?;
        Ok(Some(GateView { gate, apps: Vec::new(), blocked_24h: 0 }.into()))
    }
}

impl From<GateView> for GateItem {
    fn from(view: GateView) -> Self {
        let GateView { gate, apps, blocked_24h } = view;
        let Gate { id, name, host, methods, connection, status, .. } = gate;
        Self {
            id,
            name,
            host: host.as_str().to_owned(),
            methods,
            connection_id: connection,
            status,
            app_ids: apps,
            blocked_24h,
            etag: String::new(),
        }
    }
}

/// Leaves out the apps that the caller may not see. Admins see all.
pub(super) async fn hide_apps(
    api: &Api,
    ctx: &Context,
    member: &Member,
    views: &mut [GateView],
) -> Result<(), Problem> {
    if member.role().at_least(Role::Admin) {
        return Ok(());
    }
    let named: BTreeSet<AppId> = views.iter().flat_map(|view| view.apps.iter().copied()).collect();
    let visible = visible_apps(api, ctx, named).await?;
    for view in views {
        view.apps.retain(|app| visible.contains(app));
    }
    Ok(())
}
