//! Runs drafts: code of a person that is not a version, with the permissions of the current version.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use observability::metrics::Workload;
use runs::{
    drafts::{DraftCall, DraftOutcome, DraftOutput, DraftRunner, MAX_BODY},
    engine::{Failure, FailureCode, HandlerCall, HandlerOutput, StreamedResponse},
    runs::MAX_RESULT_BYTES,
};
use tokio::time::Instant;

use super::{
    Executor, fail, host::AppHost, trace::MAX_HTTP_LOG_BYTES, unavailable, version_cache::LoadedVersion,
};

#[async_trait]
impl DraftRunner for Executor {
    #[tracing::instrument(level = "debug", name = "draft", skip_all, fields(workspace = %call.workspace, app = %call.app))]
    async fn invoke_draft(&self, call: DraftCall) -> Result<DraftOutcome, Failure> {
        let inner = &self.0;
        let place = (call.workspace, call.app);
        let found = inner.contents.version(call.workspace, call.app, call.version).await;
        let current = found
            .map_err(|error| unavailable(&error))?
            .ok_or_else(|| fail(FailureCode::InvalidBundle, "the app has no such version"))?;
        let content = Arc::new(LoadedVersion {
            bundle: call.bundle,
            manifest: current.manifest.clone(),
            share: current.share,
        });
        let workload = match &call.handler {
            HandlerCall::Scheduled(_) => Workload::Run,
            HandlerCall::Fetch(_) => Workload::Request,
        };
        let host = inner.create_host(place, &content, (workload, MAX_HTTP_LOG_BYTES)).await;
        let (host, bindings) = host.map_err(|error| unavailable(&error))?;
        let started = Instant::now();
        let result = match inner.invoke(place, &content, bindings, call.handler, &host).await {
            Ok(output) => match self.collect(output, &host).await {
                Ok(output) => Ok(output),
                Err(failure) => Err(host.redact(failure).await),
            },
            Err(failure) => Err(failure),
        };
        let (duration, rows_written) = (started.elapsed(), host.rows_written());
        let trace = host.redact_trace(host.take_trace()).await;
        let refused = trace.refused_calls();
        let (steps, lines) = trace.into_calls();
        Ok(DraftOutcome { result, lines, steps, refused, rows_written, duration })
    }
}

impl Executor {
    /// Waits for the end of the output, and keeps a bounded part of it.
    async fn collect(&self, output: HandlerOutput, host: &AppHost) -> Result<DraftOutput, Failure> {
        match output {
            HandlerOutput::Scheduled(returned) if returned.get().len() > MAX_RESULT_BYTES => {
                Ok(DraftOutput::Returned(None))
            }
            HandlerOutput::Scheduled(returned) => {
                Ok(DraftOutput::Returned(host.redact_result(returned).await))
            }
            HandlerOutput::Response(response) => {
                let is_cut = response.body.len() > MAX_BODY;
                let body = response.body.slice(..response.body.len().min(MAX_BODY));
                Ok(DraftOutput::Response { status: response.status, headers: response.headers, body, is_cut })
            }
            HandlerOutput::Streamed(StreamedResponse { status, headers, mut body, completion }) => {
                let mut kept = BytesMut::new();
                let mut is_cut = false;
                let reading = async {
                    while let Some(piece) = body.next().await {
                        let piece: Bytes = piece?;
                        let room = MAX_BODY - kept.len();
                        kept.extend_from_slice(&piece[..piece.len().min(room)]);
                        if piece.len() > room {
                            is_cut = true;
                            break;
                        }
                    }
                    Ok::<_, Failure>(())
                };
                let stopped = self.0.stream_cancellation.cancelled();
                tokio::select! {
                    biased;
                    read = reading => read?,
                    () = stopped => return Err(fail(FailureCode::Overloaded, "the server shut down before the response ended")),
                }
                // Dropping the body tells the code that nobody reads it.
                drop(body);
                if !is_cut {
                    completion.await?;
                }
                Ok(DraftOutput::Response { status, headers, body: kept.freeze(), is_cut })
            }
        }
    }
}
