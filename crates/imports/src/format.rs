//! The formats of exports.

use serde::{Deserialize, Serialize};

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// A workflow of n8n.
    #[serde(rename = "workflow_a")]
    N8n,
    /// A blueprint of a Make scenario.
    #[serde(rename = "workflow_b")]
    Make,
    /// Flows of Node-RED.
    #[serde(rename = "workflow_c")]
    NodeRed,
}

kernel::names! {
    Format {
        N8n = "workflow_a",
        Make = "workflow_b",
        NodeRed = "workflow_c",
    }
}

impl Format {
    /// Returns the name of the tool.
    #[must_use]
    pub const fn tool(self) -> &'static str {
        match self {
            Self::N8n => "n8n",
            Self::Make => "Make",
            Self::NodeRed => "Node-RED",
        }
    }
}
