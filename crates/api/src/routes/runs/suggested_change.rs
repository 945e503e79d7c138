//! Planning the change that a run suggests.

use application::{Problem, unit};
use apps::{
    changes::{AppBaseline, RefusedHost, plan_egress},
    manifest::EgressMethod,
};
use axum::{Json, extract::State};
use kernel::{
    Locale,
    authority::{AppRight, CanEdit},
    id::RunId,
};
use runs::diagnosis::{RunFacts, diagnose};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    routes::changes::view::ChangePlanView,
    state::Api,
};

/// An empty object.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanChange {}

/// Plan the change that a run suggests
///
/// The change lets the app reach the host that the gate refused. Nothing is built yet. The plan expires after an hour.
#[utoipa::path(post, path = "/v1/runs/{id}/change", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), request_body(content = PlanChange, example = json!({})), responses((status = 200, body = ChangePlanView)))]
pub(crate) async fn plan_run_change(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (RunId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ChangePlanView>> {
    let builder = right.member().clone().require_builder()?;
    let PlanChange {} = payload.json_or_empty()?;
    let workspace = builder.workspace();
    let facts = api.diagnosis_facts(&right, id, Locale::En).await?;
    let (host, method) = suggested_host(&facts)?;
    let is_gate_open = facts.host.is_some_and(|host| host.is_gate_open);
    let app = api.store().app(workspace, facts.run.app).await?.ok_or_else(|| Problem::not_found("app"))?;
    let current = api.current_version(workspace, app.id).await?;
    let (version, manifest) =
        current.ok_or_else(|| nothing_suggested("The app has no version to change."))?;
    let current_state = AppBaseline { version, manifest, is_gate_open };
    let refused = RefusedHost { run: id, host, method };
    let change = api
        .transaction(unit!(|tx| {
            plan_egress(tx, &ctx, &right, &builder, current_state.clone(), refused.clone()).await
        }))
        .await?;
    Ok(Json(ChangePlanView::of(change, app.name, right.member().role())))
}

/// Returns the host that the gate refused to the run, and the method of the request.
fn suggested_host(facts: &RunFacts) -> Result<(String, EgressMethod), Problem> {
    let suggestion = diagnose(facts, Locale::En).suggested_host;
    let method = facts.find_failed_request().and_then(|request| request.method.parse::<EgressMethod>().ok());
    match (suggestion, method) {
        (Some(host), Some(method)) => Ok((host, method)),
        _ if facts.host.is_some_and(|host| host.is_declared && !host.is_gate_open) => {
            Err(nothing_suggested("The manifest already names the host, but the gate to it is closed.")
                .hint("An admin can open the gate: PATCH /v1/gates/{id}."))
        }
        _ => Err(nothing_suggested(
            "This run suggests no change: the gate did not refuse a host that a manifest can name.",
        )),
    }
}

fn nothing_suggested(message: &'static str) -> Problem {
    Problem::conflict("nothing_suggested", message)
}
