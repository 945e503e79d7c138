//! Tests of connections, on the way that requests of apps take.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use connections::{
    Connection, CredentialSource as _, InvalidInput, OutboundRequest, Refusal, RefusalCode,
    authorize_connection,
    connection::gate_of,
    connection_test::{Checked, ConnectionTestResult, ConnectionTester, TestRequest},
    health::{CallOutcome, judge_test},
    outbound::SearchAccount,
};
use kernel::{ShareId, id::WorkspaceId};
use tokio::time::{Instant, timeout};

use super::{Executor, egress};

/// Time that a test may take.
const TEST_TIMEOUT: Duration = Duration::from_secs(15);

#[async_trait]
impl ConnectionTester for Executor {
    async fn test(&self, connection: Connection) -> ConnectionTestResult {
        if connection.status.is_disconnected() {
            return ConnectionTestResult::refused(RefusalCode::NotConnected, None);
        }
        let request = TestRequest::of(&connection);
        if request == TestRequest::None {
            return match self.0.credentials.check_stored(&connection).await {
                Ok(()) => ConnectionTestResult::FORM_IS_RIGHT,
                Err(_) => ConnectionTestResult::secret_unavailable(),
            };
        }
        let begun = Instant::now();
        let (result, outcome) = match timeout(TEST_TIMEOUT, self.send_test(&connection, request)).await {
            Ok(Ok((result, outcome))) => (result, outcome),
            Ok(Err(refusal)) => {
                let result = ConnectionTestResult::refused(refusal.code, Some(begun.elapsed()));
                (result, CallOutcome::of_refusal(refusal.code))
            }
            Err(_) => {
                let result = ConnectionTestResult::refused(RefusalCode::Timeout, Some(begun.elapsed()));
                (result, CallOutcome::Failed)
            }
        };
        // A test is a call like any other: the status that it sets stands beside the time of the last call.
        let now = self.0.clock.now();
        self.0.calls.count(connection.workspace, gate_of(connection.id), now, outcome);
        self.0.credentials.record_outcome(&connection, outcome).await;
        let is_fake = egress::fake_of(&connection, &self.0.settings).is_some();
        let checked = if is_fake { Checked::Mock } else { result.checked };
        ConnectionTestResult { latency: Some(begun.elapsed()), checked, ..result }
    }

    fn check_ports(&self, connection: &Connection) -> Result<(), InvalidInput> {
        let policy = TestRequest::allowing_get(connection.clone());
        egress::connection_policy(policy, &self.0.settings).check_ports()
    }
}

impl Executor {
    async fn share_of(&self, workspace: WorkspaceId) -> Result<ShareId, Refusal> {
        let creator = self.0.store.workspace_creator(workspace).await.map_err(|error| {
            tracing::warn!(%workspace, error = &error as &dyn std::error::Error, "cannot read who created a workspace");
            Refusal::new(RefusalCode::UpstreamFailed, "the test cannot be sent right now")
        })?;
        Ok(ShareId::of(creator, workspace))
    }

    async fn send_test(
        &self,
        connection: &Connection,
        request: TestRequest,
    ) -> Result<(ConnectionTestResult, CallOutcome), Refusal> {
        let policy =
            egress::connection_policy(TestRequest::allowing_get(connection.clone()), &self.0.settings);
        let TestRequest::Get { path, has_body_errors } = request else {
            self.0.credentials.open(&policy).await?;
            let result =
                ConnectionTestResult { checked: Checked::Gate, ..ConnectionTestResult::FORM_IS_RIGHT };
            return Ok((result, CallOutcome::Succeeded));
        };
        let permit = authorize_connection(&path, "GET", &policy)?;
        let credentials = &*self.0.credentials;
        let (payer, share) = (Arc::clone(&self.0), self.share_of(connection.workspace).await?);
        let search = SearchAccount::new(share, move |used| payer.engine.charge_cpu_time(share, used));
        let request = OutboundRequest { search, ..OutboundRequest::default() };
        let sent = self.0.outbound.send_through_connection(request, permit, credentials);
        let response = sent.await?;
        let verdict = judge_test(response.status, &response.body.collect().await?, has_body_errors);
        let result = ConnectionTestResult {
            ok: verdict.ok,
            checked: Checked::Gate,
            status: Some(response.status),
            latency: None,
            reason: verdict.reason.map(connections::health::TestReason::as_str),
        };
        Ok((result, verdict.outcome))
    }
}
