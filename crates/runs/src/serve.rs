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

    /// Returns the reason for which the response cannot be sent, for the app's log; `None` if it can be.
    #[must_use]
    pub fn why_unsendable(&self) -> Option<&'static str> {
        let (Self::Buffered(HttpResponse { headers, .. }) | Self::Streamed { headers, .. }) = self;
        let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if headers.len() > Self::MAX_HEADERS {
            return Some("it has more than 64 headers");
        }
        if bytes > Self::MAX_HEADER_BYTES {
            return Some("its headers are longer than 16 KiB");
        }
        // What HTTP allows in a field value (RFC 9110, section 5.5).
        let is_allowed = |character| matches!(character, '\t' | ' '..='~' | '\u{80}'..='\u{ff}');
        let is_broken = headers.iter().any(|(_, value)| !value.chars().all(is_allowed));
        is_broken.then_some("a header holds a control character")
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
