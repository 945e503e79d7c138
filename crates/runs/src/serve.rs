//! The port through which an app answers over HTTP.

use async_trait::async_trait;
use kernel::id::{AppId, VersionId, WorkspaceId};

use crate::engine::{Failure, HttpRequest, HttpResponse};

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
    ) -> Result<HttpResponse, Failure>;
}
