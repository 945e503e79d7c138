//! A secret of an app, and what its sealed value is bound to.

use kernel::{
    Timestamp,
    id::{AppId, UserId, WorkspaceId},
};

use super::AppSecretName;
use crate::host::GateHost;

/// Most secrets of an app.
pub const MAX_APP_SECRETS: u64 = 50;
/// Most hosts that a secret may be sent to.
pub const MAX_SECRET_HOSTS: usize = 16;
/// Most characters of a value.
pub const MAX_VALUE_CHARS: usize = 4096;
/// The part of the sealing context that says what is sealed.
const PURPOSE: &str = "app_secret";

/// A secret of an app, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSecret {
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App.
    pub app: AppId,
    /// Name in the code.
    pub name: AppSecretName,
    /// Hosts that it may be sent to in a header, sorted; none for a secret that is no header.
    pub hosts: Vec<GateHost>,
    /// True if the code gets the value, where its manifest asks for that too.
    pub clear: bool,
    /// Number of the value; grows with each.
    pub version: u32,
    /// Time at which the value was given.
    pub set_at: Timestamp,
    /// Person who gave it.
    pub set_by: UserId,
}

/// A secret with its sealed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedAppSecret {
    /// Secret.
    pub secret: AppSecret,
    /// Sealed value.
    pub sealed: String,
}

/// A secret as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSecretView {
    /// Secret.
    pub secret: AppSecret,
    /// Name of the person who gave the value; none if the account is gone.
    pub set_by_name: Option<String>,
}

impl AppSecret {
    /// Returns the context in which the value is sealed. A ciphertext that was moved to another app or name does not open,
    /// nor one whose row has other hosts, another `clear` or another version.
    #[must_use]
    pub fn sealing_context(&self) -> [String; 7] {
        let hosts: Vec<_> = self.hosts.iter().map(GateHost::as_str).collect();
        [
            PURPOSE.to_owned(),
            self.workspace.to_string(),
            self.app.to_string(),
            self.name.to_string(),
            hosts.join(","),
            self.clear.to_string(),
            self.version.to_string(),
        ]
    }

    /// Returns `true` if a header with the secret may be sent to the host.
    #[must_use]
    pub fn may_be_sent_to(&self, host: &GateHost) -> bool {
        self.hosts.contains(host)
    }
}
