//! Redaction of secrets in what services send back and in what is logged.
//!
//! A service may echo a secret in a header, a body or an error, in its own encoding. A secret is found as it is, as hex digits
//! and as base64 (standard and URL-safe, at each of the three offsets at which it may begin in a longer text), and each of
//! these with any of its characters in any spelling (`scrub/spelling.rs`). A secret that a service has changed in another way
//! (compressed, encrypted, reversed, wrapped over lines) is not found.
//!
//! A secret under [`MIN_SECRET_BYTES`] is not searched for by itself, since it would hit ordinary text: it is only found
//! together with what stands beside it in a request, such as `Bearer SECRET` or the base64 of `user:SECRET`.
//!
//! A part of a secret must change nothing that code can see: a service that repeats what it is told would tell the secret
//! character by character. So what a stream holds back depends on what comes, and not on whether a secret may begin in it.

#[cfg(test)]
mod forms;
mod match_start;
#[cfg(test)]
mod naive;
mod patterns;
mod search;
mod spelling;

use std::{borrow::Cow, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::{Buf as _, BytesMut};
use secrecy::{ExposeSecret as _, SecretString};

use self::{patterns::Patterns, search::Search};
use crate::{
    auth::{Auth, MIN_SECRET_BYTES, parse_header_secrets, parse_secret_url, parse_service_account},
    injection::{path_form, query_form},
};

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Most bytes of all texts that are searched for at once.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Words of patterns whose time it takes to read a byte that may be an escape.
const READING_WORDS: usize = 256;
/// Words that a search passes in less than a millisecond.
const QUICK_WORDS: usize = 1 << 20;
/// Words that a search passes in about ten milliseconds.
const TURN_WORDS: usize = 16 << 20;

/// Finds a set of secrets in every form, and redacts them.
#[derive(Clone)]
pub struct Scrubber {
    patterns: Arc<Patterns>,
}

/// The error of secrets that are too long to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secrets are too long to be searched for")]
pub struct TooLong;

impl Scrubber {
    /// Creates a scrubber for texts. Those under [`MIN_SECRET_BYTES`] are left out.
    ///
    /// # Errors
    /// [`TooLong`] when the texts have more than [`MAX_TEXT_BYTES`] together.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Result<Self, TooLong> {
        let texts = secrets.into_iter().map(SecretString::expose_secret);
        let mut texts: Vec<&str> = texts.filter(|text| text.len() >= MIN_SECRET_BYTES).collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.iter().map(|text| text.len()).sum::<usize>() > MAX_TEXT_BYTES {
            return Err(TooLong);
        }
        Ok(Self { patterns: Arc::new(Patterns::of(texts.into_iter())) })
    }

    /// Creates a scrubber for what requests of a connection carry: its secret, the parts and combinations in which the
    /// secret is sent, and access tokens.
    ///
    /// # Errors
    /// [`TooLong`] when there is more to search for than memory allows.
    pub fn for_connection(
        auth: &Auth,
        secret: Option<&SecretString>,
        tokens: &[SecretString],
    ) -> Result<Self, TooLong> {
        let mut secrets: Vec<SecretString> = tokens.to_vec();
        secrets.extend(secret.into_iter().flat_map(|secret| sent_texts(auth, secret)));
        Self::new(&secrets)
    }

    /// Returns the most bytes that are searched within a millisecond, whatever they are. More would keep others on the same
    /// thread waiting.
    #[must_use]
    pub fn quick_bytes(&self) -> usize {
        bytes_for(&self.patterns, QUICK_WORDS)
    }

    /// Returns the most bytes that are searched within about ten milliseconds, whatever they are.
    #[must_use]
    pub fn turn_bytes(&self) -> usize {
        bytes_for(&self.patterns, TURN_WORDS)
    }

    /// Redacts secrets in bytes.
    #[must_use]
    pub fn scrub_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut search = Search::new(Arc::clone(&self.patterns), false);
        search.read(bytes, 0, true);
        if search.found().is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut scrubbed = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for range in search.found() {
            scrubbed.extend_from_slice(&bytes[from..range.start]);
            scrubbed.extend_from_slice(REDACTED.as_bytes());
            from = range.end;
        }
        scrubbed.extend_from_slice(&bytes[from..]);
        Cow::Owned(scrubbed)
    }

    /// Redacts secrets in a text.
    #[must_use]
    pub fn scrub_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.scrub_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Begins to redact a stream of chunks.
    #[must_use]
    pub fn into_stream(self) -> StreamScrubber {
        let search = Search::new(self.patterns, true);
        StreamScrubber { search, held: BytesMut::new(), taken: 0, covered: 0 }
    }
}

/// Returns how many bytes are searched in the time of so many words.
fn bytes_for(patterns: &Patterns, words: usize) -> usize {
    words / (patterns.words() + READING_WORDS)
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber").finish_non_exhaustive()
    }
}

/// Redacts secrets in a stream, wherever its chunks are split. It always holds back as many characters as the longest form has,
/// and as many more as one spelling.
pub struct StreamScrubber {
    search: Search,
    /// Bytes that were not returned yet.
    held: BytesMut,
    /// Place of the first held byte in the stream.
    taken: usize,
    /// Place up to which bytes were returned, or belong to a secret whose replacement was.
    covered: usize,
}

impl fmt::Debug for StreamScrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamScrubber").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

impl StreamScrubber {
    /// Returns the most bytes that [`Self::push`] searches within a millisecond, as [`Scrubber::quick_bytes`].
    #[must_use]
    pub fn quick_bytes(&self) -> usize {
        bytes_for(self.search.patterns(), QUICK_WORDS)
    }

    /// Returns the most bytes that [`Self::push`] searches within about ten milliseconds.
    #[must_use]
    pub fn turn_bytes(&self) -> usize {
        bytes_for(self.search.patterns(), TURN_WORDS)
    }

    /// Takes a chunk, and returns what can be sent on.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        self.search.read(&self.held, self.taken, false);
        self.take(self.search.settled(self.taken, self.taken + self.held.len()))
    }

    /// Returns the rest at the end of the stream.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.search.read(&self.held, self.taken, true);
        self.take(self.taken + self.held.len())
    }

    /// Returns the bytes before a place, redacted. A secret that reaches beyond it stays in what is held.
    fn take(&mut self, end: usize) -> Vec<u8> {
        let mut returned = Vec::with_capacity(end - self.taken);
        let mut from = self.covered;
        for range in self.search.found() {
            if range.start >= end {
                break;
            }
            // What overlaps a secret that was replaced belongs to it.
            if range.start >= from {
                returned.extend_from_slice(&self.held[from - self.taken..range.start - self.taken]);
                returned.extend_from_slice(REDACTED.as_bytes());
            }
            from = from.max(range.end);
        }
        if from < end {
            returned.extend_from_slice(&self.held[from - self.taken..end - self.taken]);
        }
        self.covered = from.max(end);
        self.held.advance(end - self.taken);
        self.taken = end;
        self.search.forget(end);
        returned
    }
}

/// Returns every text that requests with a secret carry.
fn sent_texts(auth: &Auth, secret: &SecretString) -> Vec<SecretString> {
    let text = secret.expose_secret();
    let mut texts = vec![secret.clone()];
    // A secret that is searched for by itself is found beside whatever stands before it.
    let is_short = text.len() < MIN_SECRET_BYTES;
    let mut add = |text: String| texts.push(SecretString::from(text));
    match auth {
        Auth::Bearer { prefix } if is_short => {
            add(format!("{} {text}", prefix.as_ref().map_or("Bearer", |word| word.as_str())));
        }
        Auth::HeaderKey { prefix: Some(prefix), .. } if is_short => {
            add(format!("{} {text}", prefix.as_str()));
        }
        Auth::QueryKey { name, prefix } => {
            let prefix = prefix.as_ref().map_or("", |prefix| prefix.as_str());
            if is_short {
                add(format!("{}={prefix}{text}", name.as_str()));
            }
            // A service may echo its URL in another encoding.
            add(query_form(text));
            add(format!("{}={}", name.as_str(), query_form(&format!("{prefix}{text}"))));
        }
        Auth::PathToken => add(path_form(text)),
        Auth::Basic { username } => {
            let pair = match username.as_str() {
                "{secret}" => format!("{text}:X"),
                username => format!("{username}:{text}"),
            };
            let encoded = STANDARD.encode(&pair);
            add(format!("Basic {encoded}"));
            // A service may write it without the word, or encode it again.
            add(encoded);
            add(pair);
        }
        Auth::ClientCredentials { client_id, .. } => {
            let pair = format!("{}:{text}", client_id.as_str());
            let encoded = STANDARD.encode(&pair);
            add(format!("Basic {encoded}"));
            add(encoded);
            add(pair);
        }
        Auth::Headers { names } => {
            for (_, value) in parse_header_secrets(names, secret).unwrap_or_default() {
                let value = value.expose_secret();
                add(value.to_owned());
                // A word such as `Bearer` is no part of the secret.
                if let Some((_, rest)) = value.split_once(' ') {
                    add(rest.to_owned());
                }
            }
        }
        Auth::ServiceAccount { .. } => {
            if let Ok(key) = parse_service_account(secret) {
                let pem = key.private_key.expose_secret();
                let lines = pem.lines().filter(|line| !line.starts_with("-----"));
                lines.for_each(|line| add(line.trim().to_owned()));
                add(pem.to_owned());
            }
        }
        Auth::Url => {
            if let Ok((_, url)) = parse_secret_url(secret) {
                add(url.path().trim_end_matches('/').to_owned());
                url.path_segments()
                    .into_iter()
                    .flatten()
                    .filter(|part| part.len() >= 16)
                    .for_each(|part| add(part.to_owned()));
                url.query_pairs()
                    .filter(|(_, value)| value.len() >= 16)
                    .for_each(|(_, value)| add(value.into_owned()));
                let pairs =
                    url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
                pairs.filter(|(_, value)| value.len() >= 16).for_each(|(_, value)| add(value.to_owned()));
                add(url.into());
            }
        }
        Auth::None | Auth::Bearer { .. } | Auth::HeaderKey { .. } | Auth::AuthorizationCode => {}
    }
    texts
}

#[cfg(test)]
mod tests;
