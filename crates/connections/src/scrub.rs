//! Redaction of secrets in what services send back and in what is logged.
//!
//! A service may echo a secret in a header, a body or an error, in its own encoding. The forms that are found are listed
//! in `scrub/forms.rs`. A secret that a service has changed in another way (compressed, encrypted, reversed, wrapped over lines
//! within base64) is not found.
//!
//! A secret under [`MIN_SECRET_BYTES`] is not searched for by itself, since it would hit ordinary text: it is only found
//! together with what stands beside it in a request, such as `Bearer SECRET` or the base64 of `user:SECRET`.

mod forms;
mod starts;

use std::{borrow::Cow, collections::BTreeSet, fmt, ops::Range, sync::OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret as _, SecretString};

use self::starts::Starts;
use crate::{
    auth::{Auth, MIN_SECRET_BYTES, parse_header_secrets, parse_secret_url, parse_service_account},
    injection::{path_form, query_form},
};

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Most bytes of all texts that are searched for at once.
pub const MAX_TEXT_BYTES: usize = 256 << 10;

/// Finds a set of secrets in every form, and redacts them.
#[derive(Clone)]
pub struct Scrubber {
    /// Texts to search for.
    texts: Vec<SecretString>,
    starts: Starts,
    /// Finds the forms of the texts; made for the first bytes that may have one.
    search: OnceLock<Option<Search>>,
    /// Bytes that a form may have, at most.
    longest: usize,
}

/// The forms of all texts.
#[derive(Clone)]
struct Search {
    automaton: AhoCorasick,
    /// Forms, sorted.
    forms: Vec<Vec<u8>>,
}

impl Search {
    /// Returns `true` if a form begins with these bytes and has more.
    fn may_go_on(&self, bytes: &[u8]) -> bool {
        let first = self.forms.partition_point(|form| &form[..] < bytes);
        self.forms[first..]
            .iter()
            .take_while(|form| form.starts_with(bytes))
            .any(|form| form.len() > bytes.len())
    }
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
        let is_long_enough = |secret: &&SecretString| secret.expose_secret().len() >= MIN_SECRET_BYTES;
        let texts: Vec<SecretString> = secrets.into_iter().filter(is_long_enough).cloned().collect();
        let exposed = || texts.iter().map(SecretString::expose_secret);
        if exposed().map(str::len).sum::<usize>() > MAX_TEXT_BYTES {
            return Err(TooLong);
        }
        let longest = exposed().map(forms::longest).max().unwrap_or_default();
        Ok(Self { starts: Starts::of(exposed()), search: OnceLock::new(), longest, texts })
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

    /// Redacts secrets in bytes.
    #[must_use]
    pub fn scrub_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let found = self.find(bytes);
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut scrubbed = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for range in found {
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
        StreamScrubber { scrubber: self, held: Vec::new(), covered: 0 }
    }

    /// Returns the places of secrets, in order; those that touch are one.
    fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        if !self.starts.may_begin_in(bytes) {
            return Vec::new();
        }
        let Some(search) = self.search() else {
            // What cannot be searched is redacted as a whole.
            return std::iter::once(0..bytes.len()).collect();
        };
        let mut found: Vec<Range<usize>> =
            search.automaton.find_overlapping_iter(bytes).map(|found| found.start()..found.end()).collect();
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    fn search(&self) -> Option<&Search> {
        self.search.get_or_init(|| self.build_search()).as_ref()
    }

    /// Returns the end of what can be sent on: no form that begins before it lacks bytes.
    fn settled(&self, bytes: &[u8]) -> usize {
        let longest = self.longest.saturating_sub(1);
        let mut open = self.starts.places_in(bytes, bytes.len().saturating_sub(longest));
        let is_open = |at: &usize| {
            let begun = &bytes[*at..];
            // A few bytes are held back without putting the forms together.
            begun.len() < MIN_SECRET_BYTES || self.search().is_none_or(|search| search.may_go_on(begun))
        };
        open.find(is_open).unwrap_or(bytes.len())
    }

    /// Puts the forms of all texts together; none if there are more than the automaton takes, which [`MAX_TEXT_BYTES`]
    /// prevents.
    fn build_search(&self) -> Option<Search> {
        let forms: BTreeSet<Vec<u8>> =
            self.texts.iter().flat_map(|text| forms::forms(text.expose_secret())).collect();
        let forms: Vec<_> = forms.into_iter().collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // A table of every byte for each state would take many times the memory.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&forms)
            .ok()?;
        Some(Search { automaton, forms })
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber").finish_non_exhaustive()
    }
}

/// Redacts secrets in a stream, wherever its chunks are split. It holds back the end of what has come if a form may begin in
/// it, at most as many bytes as the longest form has.
pub struct StreamScrubber {
    scrubber: Scrubber,
    /// Bytes that were not returned yet.
    held: Vec<u8>,
    /// Bytes at the start of `held` that belong to a secret whose replacement was returned.
    covered: usize,
}

impl fmt::Debug for StreamScrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamScrubber").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

impl StreamScrubber {
    /// Returns the bytes that the longest form has.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.scrubber.longest
    }

    /// Takes a chunk, and returns what can be sent on.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        let settled = self.scrubber.settled(&self.held);
        self.take(settled)
    }

    /// Returns the rest at the end of the stream.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.take(self.held.len())
    }

    /// Returns the first `settled` bytes, redacted. A secret that reaches beyond them stays in what is held.
    fn take(&mut self, settled: usize) -> Vec<u8> {
        let mut taken = Vec::with_capacity(settled);
        let mut from = self.covered;
        for range in self.scrubber.find(&self.held) {
            if range.start >= settled {
                break;
            }
            // What overlaps a secret that was replaced belongs to it.
            if range.start >= from {
                taken.extend_from_slice(&self.held[from..range.start]);
                taken.extend_from_slice(REDACTED.as_bytes());
            }
            from = from.max(range.end);
        }
        if from < settled {
            taken.extend_from_slice(&self.held[from..settled]);
        }
        self.covered = from.saturating_sub(settled);
        self.held.drain(..settled);
        taken
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
            add(format!("Basic {}", STANDARD.encode(&pair)));
            add(pair);
        }
        Auth::ClientCredentials { client_id, .. } => {
            let pair = format!("{}:{text}", client_id.as_str());
            add(format!("Basic {}", STANDARD.encode(&pair)));
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
