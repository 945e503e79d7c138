//! Collecting the facts about a run from all domains, for its explanation.

use apps::manifest::{EgressMethod, Manifest, diff::diff_manifests};
use connections::{
    Gate, GateHost,
    egress::log_entry::{EgressLogEntry, EgressOutcome},
};
use kernel::{
    Locale,
    authority::{AppAccess, AppRightName},
    id::{AppId, RunId, VersionId, WorkspaceId},
};
use observability::{LogLevel, LogLine, LogQuery, LogSource};
use runs::{
    Run,
    diagnosis::{
        EvidenceLine, Explanation, HostStatus, MAX_EVIDENCE_LINES, ObservedRequest, RunFacts, diagnose,
        is_explained,
    },
};

use crate::{Application, Problem};

/// Number of a run's last log lines that are considered.
const MAX_LOG_LINES: u32 = 300;

impl Application {
    /// Returns a run with everything that explains it. Callers who may not edit the app get no output of its code,
    /// since they may not read its log either.
    ///
    /// # Errors
    /// 404 `run_not_found` if the run does not exist; a [`Problem`] if the store fails.
    pub async fn diagnosis_facts(
        &self,
        access: &AppAccess,
        id: RunId,
        locale: Locale,
    ) -> Result<RunFacts, Problem> {
        let workspace = access.member().workspace();
        let found = self.store().run(workspace, id).await?;
        let mut facts = RunFacts::from_run(found.ok_or_else(|| Problem::not_found("run"))?);
        let lines = self.run_log_lines(access, id, None, MAX_LOG_LINES).await?;
        facts.lines = lines.into_iter().map(diagnosis_line).collect();
        if facts.run.state.fault().is_none() {
            return Ok(facts);
        }
        if let Some(person) = facts.run.cancelled_by {
            facts.cancelled_by = self.store().user(person).await?.map(|user| user.name);
        }
        facts.last_good = self.store().last_good(&facts.run).await?;
        self.compare_versions(workspace, &mut facts, locale).await?;
        let Some(request) = facts.find_failed_request().cloned() else { return Ok(facts) };
        let manifest = self.current_version(workspace, facts.run.app).await?.map(|(_, manifest)| manifest);
        facts.connection =
            manifest.as_ref().zip(request.connection.as_deref()).and_then(|(manifest, name)| {
                let known = manifest.permissions.connectors.iter().find(|known| known.name == name);
                known.map(|known| known.connection_id)
            });
        if let (Some(host), Some(manifest)) = (&request.host, &manifest) {
            let gates = self.store().open_gates(workspace).await?;
            facts.host = Some(host_state(host, &request.method, manifest, &gates));
        }
        Ok(facts)
    }

    /// Explains why a run failed or was blocked, in the workspace's language. Returns `None` for a run that needs no
    /// explanation.
    ///
    /// # Errors
    /// As [`Application::diagnosis_facts`].
    pub async fn explanation_of(
        &self,
        access: &AppAccess,
        run: &Run,
    ) -> Result<Option<Explanation>, Problem> {
        if !is_explained(run) {
            return Ok(None);
        }
        let locale = self.resolve_locale(access.member().workspace(), None).await?;
        Ok(Some(diagnose(&self.diagnosis_facts(access, run.id, locale).await?, locale).explanation))
    }

    /// Returns the last log lines of a run that the caller may see, oldest first.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn run_log_lines(
        &self,
        access: &AppAccess,
        run: RunId,
        source: Option<LogSource>,
        limit: u32,
    ) -> Result<Vec<LogLine>, Problem> {
        // Lines of the platform belong to no run, so only lines of the gate are left.
        let source =
            if access.rights().contains(AppRightName::CanEdit) { source } else { Some(LogSource::Gate) };
        let query = LogQuery::for_run(run, source, limit);
        let mut lines = self.store().log_lines(access.member().workspace(), access.app(), &query).await?;
        lines.truncate(limit as usize);
        lines.reverse();
        Ok(lines)
    }

    /// Returns the language for an explanation: the requested one, by default the workspace's.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn resolve_locale(
        &self,
        workspace: WorkspaceId,
        requested: Option<Locale>,
    ) -> Result<Locale, Problem> {
        match requested {
            Some(locale) => Ok(locale),
            None => Ok(self.store().workspace(workspace).await?.map_or(Locale::En, |found| found.locale)),
        }
    }

    /// Returns an app's current version with its manifest; `None` if there is none.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn current_version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<(VersionId, Manifest)>, Problem> {
        let Some(app) = self.store().app(workspace, app).await? else { return Ok(None) };
        let Some(current) = app.current_version else { return Ok(None) };
        let found = self.store().version(workspace, app.id, current).await?;
        Ok(found.map(|(version, content)| (version.id, content.manifest)))
    }

    /// Compares the run's version with that of the last successful run.
    async fn compare_versions(
        &self,
        workspace: WorkspaceId,
        facts: &mut RunFacts,
        locale: Locale,
    ) -> Result<(), Problem> {
        let Some(good) = facts.last_good.as_ref().and_then(|good| good.version.as_ref()) else {
            return Ok(());
        };
        let app = facts.run.app;
        let Some((version, before)) = self.store().version(workspace, app, good.id).await? else {
            return Ok(());
        };
        facts.last_good_version = Some((version.id, Some(version.number)));
        match &facts.run.version {
            None => {}
            Some(ran) if ran.id == good.id => facts.has_code_changed = Some(false),
            Some(ran) => {
                if let Some((ran, after)) = self.store().version(workspace, app, ran.id).await? {
                    let is_known = version.is_runnable && ran.is_runnable;
                    facts.has_code_changed = is_known.then(|| before.files != after.files);
                    let found = diff_manifests(&before.manifest, &after.manifest);
                    facts.differences =
                        found.iter().take(MAX_EVIDENCE_LINES).map(|it| it.describe(locale)).collect();
                }
            }
        }
        Ok(())
    }
}

/// Returns what the manifest and the gates now say about a host to which a request was refused.
pub fn host_state(host: &str, method: &str, manifest: &Manifest, gates: &[Gate]) -> HostStatus {
    let known = method.parse::<EgressMethod>().ok();
    let declared = manifest.permissions.egress.iter().find(|egress| egress.host == host);
    let allows = |methods: &Vec<EgressMethod>| known.is_some_and(|known| methods.contains(&known));
    let host = GateHost::parse(host).ok();
    let open = |gate: &Gate| {
        Some(&gate.host) == host.as_ref() && gate.methods.iter().any(|allowed| allowed.as_str() == method)
    };
    HostStatus {
        is_declared: declared.is_some_and(|egress| egress.methods.as_ref().is_none_or(allows)),
        is_gate_open: gates.iter().any(open),
        is_declarable: host.is_some() && known.is_some(),
    }
}

fn diagnosis_line(line: LogLine) -> EvidenceLine {
    let is_gate_line = line.content.source == LogSource::Gate;
    let note = if is_gate_line { line.content.message.parse::<EgressLogEntry>().ok() } else { None };
    EvidenceLine {
        id: line.id,
        at: line.content.at,
        source: line.content.source.as_str(),
        is_warning_or_error: line.content.level >= LogLevel::Warn,
        message: line.content.message,
        request: note.map(|note| ObservedRequest {
            method: note.method().to_owned(),
            host: note.host().map(str::to_owned),
            connection: note.connection().map(str::to_owned),
            outcome: match note.outcome {
                EgressOutcome::Allowed(status) => Ok(status),
                EgressOutcome::Refused(code) => Err(code),
            },
        }),
    }
}
