//! The last test of a connection.

use kernel::Timestamp;
use serde::{Deserialize, Serialize};

/// The way in which a connection was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checked {
    /// A request was sent through the gate.
    Gate,
    /// Only the form of the secret was checked, since no request is harmless.
    Format,
    /// The service is a fake of development.
    Mock,
}

kernel::names! {
    Checked {
        Gate = "gate",
        Format = "format",
        Mock = "mock",
    }
}

/// The last test of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCheck {
    /// Revision of the connection that was tested. The test says nothing about a later one.
    pub revision: u32,
    /// Time of the test.
    pub at: Timestamp,
    /// The way in which it was tested.
    pub checked: Checked,
    /// True if the connection worked; none if the service could not be asked.
    pub ok: Option<bool>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Milliseconds until the response.
    pub latency_ms: Option<u64>,
    /// Stable reason, if it did not work or could not be asked.
    pub reason: Option<String>,
}
