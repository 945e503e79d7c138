//! Agent clients. All are public clients (RFC 6749, section 2.1): none has a secret.

mod metadata;
mod metadata_document;
mod register;

use serde::{Deserialize, Serialize};

use super::redirect::RedirectUri;

pub use metadata::{ClientMetadata, InvalidClientMetadata, MAX_REDIRECT_URIS};
pub use metadata_document::{
    ClientDocumentFetcher, DocumentError, MAX_DOCUMENT_BYTES, MetadataUrl, parse_document,
};
pub use register::register_client;

/// Way in which a client is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// The client registered itself; none of its metadata is verified.
    Registered,
    /// The client's id is the URL of its metadata document, which verifies its host.
    Metadata,
}

kernel::names! {
    ClientKind {
        Registered = "registered",
        Metadata = "metadata",
    }
}

/// A client as it was at the time of a request; later changes of the client do not affect it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSnapshot {
    /// The `client_id` that the client sends.
    pub id: String,
    /// Way in which the client is identified.
    pub kind: ClientKind,
    /// Name the client gives itself, 1 to 60 printable characters; not verified.
    pub name: String,
    /// Verified host of a client that is identified by its metadata document.
    pub host: Option<String>,
}

impl ClientSnapshot {
    /// Returns the publisher if the client's verified host belongs to a well-known one. A name alone never suffices.
    #[must_use]
    pub fn verified_publisher(&self) -> Option<&'static str> {
        let host = self.host.as_deref()?;
        VERIFIED_PUBLISHERS.iter().find(|(known, _)| *known == host).map(|(_, name)| *name)
    }
}

/// Hosts of metadata documents and their well-known owners.
const VERIFIED_PUBLISHERS: &[(&str, &str)] =
    &[("chatgpt.com", "ChatGPT"), ("claude.ai", "Claude"), ("vscode.dev", "Visual Studio Code")];

/// A client and its redirect URIs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Identity of the client.
    pub snapshot: ClientSnapshot,
    /// URIs to which responses may be sent.
    pub redirect_uris: Vec<RedirectUri>,
    /// Host of the client's home page; not verified.
    pub homepage_host: Option<String>,
}

impl Client {
    /// Parses the requested redirect URI; none if it is malformed or not allowed for the client.
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
    fn only_a_verified_host_makes_a_publisher() {
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
