//! The port through which an app answers over HTTP.

use std::fmt;

use async_trait::async_trait;
use kernel::id::{AppId, VersionId, WorkspaceId};

use crate::engine::{BodyStream, Failure, HttpRequest, HttpResponse};

/// Lets an app's `fetch` handler answer a request.
#[async_trait]
pub trait AppServer: Send + Sync {
    /// Runs the handler of one version.
    ///
    /// # Errors
    /// Why it came to no answer; also when the version is gone.
    async fn serve(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
        request: HttpRequest,
    ) -> Result<AppResponse, Failure>;
}

/// What an app answers. Header names are lower case.
pub enum AppResponse {
    /// All at once.
    Buffered(HttpResponse),
    /// Piece by piece. Whoever drops the body wants no more of it.
    Streamed {
        /// 200 to 599.
        status: u16,
        /// Headers in order; a name may repeat.
        headers: Vec<(String, String)>,
        /// The body; it may break off with a failure.
        body: BodyStream,
    },
}

impl fmt::Debug for AppResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffered(response) => f.debug_tuple("Whole").field(response).finish(),
            Self::Streamed { status, headers, .. } => f
                .debug_struct("Streamed")
                .field("status", status)
                .field("headers", headers)
                .finish_non_exhaustive(),
        }
    }
}
