//! Clients whose id is the address of a document about them (draft-ietf-oauth-client-id-metadata-document).

use std::{fmt, str::FromStr, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;
use url::Url;

use super::{
    Client, ClientKind, ClientSnapshot,
    metadata::{ClientMetadata, InvalidClientMetadata, UnsafeRedirectPolicy},
};
use crate::oauth::redirect::RedirectUri;

/// The most bytes of a document.
pub const MAX_DOCUMENT_BYTES: usize = 5 << 10;
/// The most bytes of an address.
const MAX_URL_BYTES: usize = 512;

/// The address of a client's document: https, with a path, written such that nobody takes it for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataUrl(Url);

/// The text is no such address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not the address of a client's document")]
pub struct InvalidMetadataUrl;

impl MetadataUrl {
    /// The address.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The host, which the document proves.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl FromStr for MetadataUrl {
    type Err = InvalidMetadataUrl;

    fn from_str(text: &str) -> Result<Self, InvalidMetadataUrl> {
        // The same spelling is asked for as of an answer's address, and a path besides.
        let plain: RedirectUri = text.parse().map_err(|_| InvalidMetadataUrl)?;
        let url = Url::parse(text).map_err(|_| InvalidMetadataUrl)?;
        let fits = text.len() <= MAX_URL_BYTES
            && plain.scheme() == "https"
            && url.path() != "/"
            && url.as_str() == text;
        if fits { Ok(Self(url)) } else { Err(InvalidMetadataUrl) }
    }
}

impl fmt::Display for MetadataUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a client's document could not be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DocumentError {
    /// It could not be fetched: no answer, another status than 200, a redirect, a forbidden address.
    #[error("the document could not be fetched: {0}")]
    Unreachable(String),
    /// It is not JSON, too long, or another client's.
    #[error("the document {0}")]
    Invalid(&'static str),
    /// What it says does not do.
    #[error(transparent)]
    Metadata(#[from] InvalidClientMetadata),
}

/// Where clients' documents come from.
///
/// An implementation follows no redirect, takes no more than [`MAX_DOCUMENT_BYTES`] bytes in 5 seconds, dials only addresses
/// of the internet, and asks for one document once at a time. It may remember what it found for as long as the
/// answer's headers say, from 5 minutes to a day; never a failure.
#[async_trait]
pub trait ClientDocumentFetcher: Send + Sync {
    /// The client that this document describes.
    async fn fetch_client(&self, id: &MetadataUrl) -> Result<Arc<Client>, DocumentError>;
}

/// Reads a document that was found at `id`.
///
/// # Errors
/// When it is not this client's, or does not do.
pub fn parse_document(id: &MetadataUrl, document: &[u8]) -> Result<Client, DocumentError> {
    if document.len() > MAX_DOCUMENT_BYTES {
        return Err(DocumentError::Invalid("is longer than 5 KiB"));
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(document) else {
        return Err(DocumentError::Invalid("is not a JSON object"));
    };
    if members.get("client_id").and_then(Value::as_str) != Some(id.url().as_str()) {
        return Err(DocumentError::Invalid("names another client_id than its own address"));
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
    fn an_address_is_https_with_a_path() {
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
    fn a_document_is_its_clients_own() {
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
        assert_eq!(client.redirect_uris.len(), 1, "what is not safe is left out");

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
