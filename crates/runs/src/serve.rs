//! The port through which an app serves HTTP requests.

use std::fmt;

use async_trait::async_trait;
use kernel::id::{AppId, VersionId, WorkspaceId};

use crate::engine::{BodyStream, Failure, HttpRequest, HttpResponse};

/// Serves requests with the `fetch` handlers of apps.
#[async_trait]
pub trait AppServer: Send + Sync {
    /// Runs the handler of one version.
    ///
    /// # Errors
    /// The failure that prevented a response, such as a version that no longer exists.
    async fn serve(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
        request: HttpRequest,
    ) -> Result<AppResponse, Failure>;
}

/// Response of an app. Header names are lower case.
pub enum AppResponse {
    /// The complete response.
    Buffered(HttpResponse),
    /// A response whose body comes in pieces. Dropping the body ends it.
    Streamed {
        /// Status, 200 to 599.
        status: u16,
        /// Headers in order; a name may repeat.
        headers: Vec<(String, String)>,
        /// Body, which may break off with a failure.
        body: BodyStream,
    },
}

impl AppResponse {
    /// Most headers of a response; clients accept little more.
    pub const MAX_HEADERS: usize = 64;
    /// Most bytes of the names and values of all headers.
    pub const MAX_HEADER_BYTES: usize = 16 << 10;

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Buffered(response) => response.status,
            Self::Streamed { status, .. } => *status,
        }
    }

    /// Returns true if the response has too many headers to be sent.
    #[must_use]
    pub fn exceeds_header_limits(&self) -> bool {
        let (Self::Buffered(HttpResponse { headers, .. }) | Self::Streamed { headers, .. }) = self;
        let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        headers.len() > Self::MAX_HEADERS || bytes > Self::MAX_HEADER_BYTES
    }
}

impl fmt::Debug for AppResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffered(response) => f.debug_tuple("Buffered").field(response).finish(),
            Self::Streamed { status, headers, .. } => f
                .debug_struct("Streamed")
                .field("status", status)
                .field("headers", headers)
                .finish_non_exhaustive(),
        }
    }
}
