//! Planning to let an app call one more host.

use kernel::{
    Context, Locale,
    authority::{AppRight, Builder, CanEdit, Sharing},
    id::{RunId, VersionId},
};

use super::{AppUpdate, Change, ChangePlan, ChangesTx, PlannedBy, insert_planned};
use crate::{
    AppError, Manifest,
    manifest::EgressMethod,
    safe_band::{Reach, reasons_outside},
};

/// The state of the app that a plan starts from.
#[derive(Debug, Clone)]
pub struct AppBaseline {
    /// Current version.
    pub version: VersionId,
    /// Manifest of the current version.
    pub manifest: Manifest,
    /// True if an open gate of the workspace allows the method on the refused host.
    pub is_gate_open: bool,
}

/// A request that the gate refused to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedHost {
    /// Run that made the request.
    pub run: RunId,
    /// Host, in the form of a manifest: a lower-case name without scheme, port or path.
    pub host: String,
    /// Method of the request.
    pub method: EgressMethod,
}

/// Plans to let an app call the host that the gate refused to one of its runs. Nothing is built.
///
/// # Errors
/// * [`AppError::NothingToChange`] when the manifest allows the request already, or would be out of bounds with it
/// * [`AppError::TooManyChanges`] when the person has [`MAX_OPEN`](super::MAX_OPEN) unexpired plans
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn plan_egress(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    _builder: &Builder,
    baseline: AppBaseline,
    refused: RefusedHost,
) -> Result<Change, AppError> {
    let RefusedHost { run, host, method } = refused;
    let manifest = baseline.manifest.with_egress(&host, method).ok_or(AppError::NothingToChange)?;
    let method = method.as_str();
    let mut steps = vec![
        format!("Add {host} with the method {method} to the manifest."),
        "Create a version with the same code and make it current.".to_owned(),
    ];
    // Every gain is a reason by itself, so scores, handlers and sharing, which stay as they are, do not matter.
    let reach = |manifest| Reach { manifest, trust_score: 0, has_fetch: false, sharing: Sharing::Private };
    let reasons = reasons_outside(reach(&baseline.manifest), reach(&manifest));
    let mut needs_console: Vec<String> = reasons.iter().map(|reason| reason.describe(Locale::En)).collect();
    let mut closed_hosts = Vec::new();
    if !baseline.is_gate_open {
        steps.push(format!("Open the gate to {host}."));
        needs_console.push(format!("An admin opens the gate to {host}."));
        closed_hosts.push(host.clone());
    }
    let plan = ChangePlan {
        base: baseline.version,
        instruction: format!("Let the app call {host} with the method {method}."),
        summary: format!("The app may call {host} with the method {method}."),
        before: baseline.manifest,
        manifest,
        steps,
        notes: vec![format!("The gate refused this call to the run {run}.")],
        needs_console,
        closed_hosts,
        locale: Locale::En,
        sharing: None,
        trust: None,
        app: AppUpdate::default(),
        automations: Vec::new(),
        planned_by: PlannedBy::Rules,
    };
    let detail = serde_json::json!({ "app": right.app(), "run": run, "host": host, "method": method });
    insert_planned(tx, ctx, right, Some(run), plan, detail).await
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};
    use serde_json::json;

    use super::*;
    use crate::{
        changes::ChangeState,
        manifest::EgressPermission,
        testing::{
            FakeTx, assert_audited, builder, builder_context, builder_id, can_edit, draft, manifest,
            workspace,
        },
    };

    const HOST: &str = "api.example.com";

    fn baseline(egress: &[(&str, Option<&[EgressMethod]>)]) -> AppBaseline {
        let mut manifest = manifest();
        let permission = |(host, methods): &(&str, Option<&[EgressMethod]>)| {
            EgressPermission::new(*host, methods.map(<[_]>::to_vec))
        };
        manifest.permissions.egress = egress.iter().map(permission).collect();
        AppBaseline { version: id(20), manifest, is_gate_open: false }
    }

    fn refused_post(host: &str) -> RefusedHost {
        RefusedHost { run: id(30), host: host.to_owned(), method: EgressMethod::Post }
    }

    async fn plan(tx: &mut FakeTx, baseline: AppBaseline, host: &str) -> Result<Change, AppError> {
        let ctx = builder_context();
        let right = can_edit(&ctx, &draft(7));
        plan_egress(tx, &ctx, &right, &builder(&ctx), baseline, refused_post(host)).await
    }

    #[tokio::test]
    async fn a_plan_names_the_host_and_asks_for_its_gate() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let change = plan(&mut tx, baseline(&[]), HOST).await.unwrap();

        let expected = Change {
            id: change.id,
            workspace: workspace(),
            app: draft(7).id,
            owner: builder_id(),
            run: Some(id(30)),
            plan: change.plan.clone(),
            created_at: ctx.now,
            expires_at: ctx.now + chrono::TimeDelta::hours(1),
            outcome: None,
        };
        assert_eq!(change, expected);
        assert_eq!(tx.changes, [expected]);
        let ChangePlan { base, before, manifest: after, steps, needs_console, .. } = change.plan;
        assert_eq!((base, before), (id(20), manifest()));
        assert_eq!(
            after.permissions.egress,
            baseline(&[(HOST, Some(&[EgressMethod::Post]))]).manifest.permissions.egress
        );
        assert!(steps.iter().any(|step| step.contains("gate to api.example.com")), "{steps:?}");
        assert!(needs_console.iter().all(|reason| reason.contains(HOST)), "{needs_console:?}");
        assert_eq!(needs_console.len(), 2, "the permission and the gate: {needs_console:?}");
        let run: RunId = id(30);
        let detail = json!({ "app": change.app, "run": run, "host": HOST, "method": "POST" });
        assert_audited(&tx.work, "change.plan", change.id, Some(&detail));
        assert!(tx.work.emails.is_empty() && tx.work.events.is_empty());
    }

    #[tokio::test]
    async fn an_open_gate_needs_no_admin_but_a_person() {
        let baseline = AppBaseline { is_gate_open: true, ..baseline(&[]) };
        let change = plan(&mut FakeTx::default(), baseline, HOST).await.unwrap();
        assert_eq!((change.plan.needs_console.len(), change.plan.closed_hosts.len()), (1, 0));
        assert!(change.plan.steps.iter().all(|step| !step.contains("gate")), "{:?}", change.plan.steps);
    }

    #[tokio::test]
    async fn a_host_that_is_named_already_gets_one_method_more() {
        let baseline = baseline(&[("a.example", None), (HOST, Some(&[EgressMethod::Get]))]);
        let change = plan(&mut FakeTx::default(), baseline, HOST).await.unwrap();
        let methods = change.plan.manifest.permissions.egress[1].methods.clone();
        assert_eq!(methods, Some(vec![EgressMethod::Get, EgressMethod::Post]));
    }

    #[tokio::test]
    async fn what_a_manifest_allows_already_or_cannot_name_is_no_change() {
        let mut tx = FakeTx::default();
        let hosts: Vec<String> = (0..32).map(|number| format!("h{number}.example")).collect();
        let full: Vec<_> = hosts.iter().map(|host| (host.as_str(), None)).collect();
        for (baseline, host) in [
            (baseline(&[(HOST, None)]), HOST),
            (baseline(&[(HOST, Some(&[EgressMethod::Post]))]), HOST),
            (baseline(&[]), "10.0.0.1"),
            (baseline(&full), HOST),
        ] {
            let refused = plan(&mut tx, baseline, host).await;
            assert!(matches!(refused, Err(AppError::NothingToChange)), "{host}: {refused:?}");
        }
        assert!(tx.changes.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_person_has_at_most_fifty_open_plans() {
        let change = plan(&mut FakeTx::default(), baseline(&[]), HOST).await.unwrap();
        let now = builder_context().now;
        let expired = Change { expires_at: now, ..change.clone() };
        let of_another = Change { owner: id(11), ..change.clone() };
        let mut tx = FakeTx { changes: vec![change.clone(); 49], ..FakeTx::default() };
        tx.changes.extend([expired, of_another]);
        plan(&mut tx, baseline(&[]), HOST).await.unwrap();

        let refused = plan(&mut tx, baseline(&[]), HOST).await;
        assert!(matches!(refused, Err(AppError::TooManyChanges)), "{refused:?}");
        assert_eq!((tx.changes.len(), tx.work.audit.len()), (52, 1));
    }

    #[tokio::test]
    async fn a_plan_expires_after_an_hour() {
        let change = plan(&mut FakeTx::default(), baseline(&[]), HOST).await.unwrap();
        assert_eq!(change.state(at(1_000 + 3_599_999)), ChangeState::Planned);
        assert_eq!(change.state(at(1_000 + 3_600_000)), ChangeState::Expired);
    }
}
