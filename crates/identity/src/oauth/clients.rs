//! Programs that ask to be let in. All of them are public clients: none has a secret.

mod metadata;
mod metadata_document;
mod register;

use std::str::FromStr;

use kernel::Problem;
use serde::{Deserialize, Serialize};

use super::redirect::RedirectUri;

pub use metadata::{ClientMetadata, InvalidClientMetadata, MAX_REDIRECT_URIS};
pub use metadata_document::{
    ClientDocumentFetcher, DocumentError, MAX_DOCUMENT_BYTES, MetadataUrl, parse_document,
};
pub use register::register_client;

/// How a client is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ClientKind {
    /// It registered itself; nothing it says of itself is proved.
    Registered,
    /// Its id is the address of a document about it, so its host is proved.
    Metadata,
}

impl ClientKind {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Metadata => "metadata",
        }
    }
}

impl FromStr for ClientKind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "registered" => Ok(Self::Registered),
            "metadata" => Ok(Self::Metadata),
            _ => Err(Problem::invalid_field("kind", "must be registered or metadata")),
        }
    }
}

/// What is kept of a client with what it asked for: a later change of the client changes nothing about that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSnapshot {
    /// `client_id` as the client sends it.
    pub id: String,
    /// How it is known.
    pub kind: ClientKind,
    /// What it calls itself, 1 to 60 printable characters; proves nothing.
    pub name: String,
    /// The host its id proves, of a client known by its document.
    pub host: Option<String>,
}

impl ClientSnapshot {
    /// Whose client it is, when the proved host is of somebody well known. A name alone never is.
    #[must_use]
    pub fn verified_publisher(&self) -> Option<&'static str> {
        let host = self.host.as_deref()?;
        VERIFIED_PUBLISHERS.iter().find(|(known, _)| *known == host).map(|(_, name)| *name)
    }
}

/// Hosts of documents whose owners are well known.
const VERIFIED_PUBLISHERS: &[(&str, &str)] =
    &[("chatgpt.com", "ChatGPT"), ("claude.ai", "Claude"), ("vscode.dev", "Visual Studio Code")];

/// A client and where it may be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Who it is.
    pub snapshot: ClientSnapshot,
    /// Where it may be answered.
    pub redirect_uris: Vec<RedirectUri>,
    /// The host of the page it names as its own; proves nothing.
    pub homepage_host: Option<String>,
}

impl Client {
    /// Where it asks to be answered, if it may be answered there.
    #[must_use]
    pub fn find_redirect_uri(&self, requested: &str) -> Option<RedirectUri> {
        let requested_uri: RedirectUri = requested.parse().ok()?;
        self.redirect_uris.iter().any(|known| known.allows(&requested_uri)).then_some(requested_uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proved_host_is_recognised() {
        let client = |kind, name: &str, host: Option<&str>| ClientSnapshot {
            id: "qac_1".to_owned(),
            kind,
            name: name.to_owned(),
            host: host.map(str::to_owned),
        };
        assert_eq!(
            client(ClientKind::Metadata, "Whoever", Some("claude.ai")).verified_publisher(),
            Some("Claude")
        );
        assert_eq!(client(ClientKind::Registered, "Claude", None).verified_publisher(), None);
        assert_eq!(
            client(ClientKind::Metadata, "Claude", Some("claude.ai.evil.example")).verified_publisher(),
            None
        );
        assert_eq!(client(ClientKind::Metadata, "Claude", Some("evil.claude.ai")).verified_publisher(), None);
    }
}
