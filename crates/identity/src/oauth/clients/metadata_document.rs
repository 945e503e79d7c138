//! Clients whose id is the URL of their metadata document (draft-ietf-oauth-client-id-metadata-document).

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;
use url::Url;

use super::{
    Client, ClientKind, ClientSnapshot,
    metadata::{ClientMetadata, InvalidClientMetadata, UnsafeRedirectPolicy},
};
use crate::oauth::redirect::RedirectUri;

/// Maximum size of a document in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 5 << 10;
/// Maximum length of a document's URL in bytes.
const MAX_URL_BYTES: usize = 512;

/// URL of a client's metadata document: https, with a path, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataUrl(Url);

/// Error of a text that is not a [`MetadataUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the URL of a client metadata document")]
pub struct InvalidMetadataUrl;

impl MetadataUrl {
    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the host, which the document verifies.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl FromStr for MetadataUrl {
    type Err = InvalidMetadataUrl;

    fn from_str(text: &str) -> Result<Self, InvalidMetadataUrl> {
        // The rules for the form of a redirect URI apply here too, and a path is required.
        let uri: RedirectUri = text.parse().map_err(|_| InvalidMetadataUrl)?;
        let url = Url::parse(text).map_err(|_| InvalidMetadataUrl)?;
        let is_valid = text.len() <= MAX_URL_BYTES
            && uri.scheme() == "https"
            && url.path() != "/"
            && url.as_str() == text;
        if is_valid { Ok(Self(url)) } else { Err(InvalidMetadataUrl) }
    }
}

impl fmt::Display for MetadataUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Failure to get a client from its metadata document.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DocumentError {
    /// The document could not be fetched: no response, a status other than 200, a redirect or a forbidden address.
    #[error("the document could not be fetched: {0}")]
    Unreachable(String),
    /// Too many documents are being fetched.
    #[error("too many documents are being fetched")]
    Busy,
    /// The document is not a JSON object, too long or another client's.
    #[error("the document {0}")]
    Invalid(&'static str),
    /// The metadata in the document is not acceptable.
    #[error(transparent)]
    Metadata(#[from] InvalidClientMetadata),
}

/// Fetches the metadata documents of clients.
///
/// An implementation follows no redirects, reads at most [`MAX_DOCUMENT_BYTES`] bytes within 5 seconds, connects only
/// to public addresses, and fetches each document once at a time. Of its concurrent fetches, one network that asks and one host
/// that is asked have a share each. It may cache a client for as long as the response
/// headers allow, from 5 minutes to a day, but never a failure.
#[async_trait]
pub trait ClientDocumentFetcher: Send + Sync {
    /// Fetches the client that the document at `id` describes. `network` is the address of the caller, or the network that it
    /// belongs to.
    async fn fetch_client(
        &self,
        id: &MetadataUrl,
        network: Option<IpAddr>,
    ) -> Result<Arc<Client>, DocumentError>;
}

/// Parses a document that was fetched from `id`.
///
/// # Errors
/// [`DocumentError::Invalid`] if it is too long, not a JSON object or another client's; [`DocumentError::Metadata`] if
/// its metadata is not acceptable.
pub fn parse_document(id: &MetadataUrl, document: &[u8]) -> Result<Client, DocumentError> {
    if document.len() > MAX_DOCUMENT_BYTES {
        return Err(DocumentError::Invalid("is longer than 5 KiB"));
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(document) else {
        return Err(DocumentError::Invalid("is not a JSON object"));
    };
    if members.get("client_id").and_then(Value::as_str) != Some(id.url().as_str()) {
        return Err(DocumentError::Invalid("has a client_id other than its own URL"));
    }
    let metadata = ClientMetadata::parse_with(&members, UnsafeRedirectPolicy::Skip)?;
    Ok(Client {
        snapshot: ClientSnapshot {
            id: id.to_string(),
            kind: ClientKind::Metadata,
            name: metadata.name,
            host: Some(id.host().to_owned()),
        },
        redirect_uris: metadata.redirect_uris,
        homepage_host: metadata.homepage_host,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "https://agent.example/client.json";

    #[test]
    fn a_metadata_url_is_https_with_a_path() {
        for good in [ID, "https://agent.example:8443/a/b?v=1", "https://127.0.0.1:4433/client.json"] {
            assert_eq!(good.parse::<MetadataUrl>().unwrap().to_string(), good);
        }
        for bad in [
            "http://agent.example/client.json",
            "http://127.0.0.1/client.json",
            "https://agent.example",
            "https://agent.example/",
            "https://agent.example/a/../client.json",
            "https://agent.example/%2e%2e/client.json",
            "https://agent.example/client.json#a",
            "https://user@agent.example/client.json",
            "https://0x7f000001/client.json",
            "https://2130706433/client.json",
            "https://Agent.example/client.json",
            "https://agent.example:443/client.json",
            "qac_01h455vb4pex5vsknk084sn02q",
            "",
        ] {
            assert!(bad.parse::<MetadataUrl>().is_err(), "{bad}");
        }
        assert!(
            format!("https://agent.example/{}", "a".repeat(MAX_URL_BYTES)).parse::<MetadataUrl>().is_err()
        );
    }

    #[test]
    fn a_document_must_name_its_own_url() {
        let id: MetadataUrl = ID.parse().unwrap();
        let read = |value: Value| parse_document(&id, value.to_string().as_bytes());
        let client = read(json!({
            "client_id": ID,
            "client_name": "Agent",
            "redirect_uris": ["someday://callback", "javascript://x/y", "https://agent.example/cb"],
            "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
        }))
        .unwrap();
        assert_eq!(
            (client.snapshot.id.as_str(), client.snapshot.host.as_deref()),
            (ID, Some("agent.example"))
        );
        assert_eq!(client.redirect_uris.len(), 1, "unsafe redirect URIs are left out");

        let other = json!({"client_id": "https://agent.example/client.json ", "redirect_uris": ["https://a.example/"]});
        assert!(matches!(read(other), Err(DocumentError::Invalid(_))));
        assert!(matches!(read(json!([ID])), Err(DocumentError::Invalid(_))));
        assert!(matches!(
            read(json!({"redirect_uris": ["https://a.example/"]})),
            Err(DocumentError::Invalid(_))
        ));
        assert!(matches!(
            read(json!({"client_id": ID, "redirect_uris": ["someday://callback"]})),
            Err(DocumentError::Metadata(_))
        ));
        let long = json!({"client_id": ID, "redirect_uris": ["https://a.example/"], "x": "a".repeat(MAX_DOCUMENT_BYTES)});
        assert!(matches!(read(long), Err(DocumentError::Invalid("is longer than 5 KiB"))));
    }
}
