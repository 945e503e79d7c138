//! A scanner of text from left to right, and the decoder of query strings.

use crate::error::{Error, Quoted, Result};

/// The part of a text that is still to be parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Takes `token` if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.rest.strip_prefix(token).map(|rest| self.rest = rest).is_some()
    }

    pub(super) fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    /// Takes everything before the first character that `stop` names.
    pub(super) fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes `"…"`, in which `\x` means `x`. Takes nothing if it does not begin here or is not closed.
    pub(super) fn take_quoted(&mut self) -> Option<String> {
        let mut ahead = *self;
        if !ahead.eat("\"") {
            return None;
        }
        let mut text = String::new();
        loop {
            match ahead.next()? {
                '"' => break,
                '\\' => text.push(ahead.next()?),
                other => text.push(other),
            }
        }
        *self = ahead;
        Some(text)
    }

    /// Takes a name: one in quotes, or everything up to punctuation of the language.
    pub(super) fn take_name(&mut self) -> Result<String> {
        self.skip_blanks();
        if let Some(name) = self.take_quoted() {
            self.skip_blanks();
            return Ok(name);
        }
        let end = self
            .rest
            .char_indices()
            .find(|&(at, c)| {
                matches!(c, ',' | '.' | ':' | '(' | ')' | '"') || self.rest[at..].starts_with("->")
            })
            .map_or(self.rest.len(), |(at, _)| at);
        let (name, rest) = self.rest.split_at(end);
        let name = name.trim_matches(' ');
        if name.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Error {
        if self.is_empty() {
            Error::invalid_request(format!("expected {wanted} before the end"))
        } else {
            Error::invalid_request(format!("expected {wanted} at {}", Quoted(self.rest)))
        }
    }
}

/// Splits a query string into pairs and decodes them: `+` is a blank, `%xx` a byte, and the bytes must be UTF-8.
pub(super) fn query_pairs(raw: &str) -> impl Iterator<Item = Result<(String, String)>> {
    raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((percent_decode(key)?, percent_decode(value)?))
    })
}

fn percent_decode(text: &str) -> Result<String> {
    let malformed = || Error::invalid_request(format!("{} is not percent-encoded UTF-8", Quoted(text)));
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16));
                let (high, low) = digit().zip(digit()).ok_or_else(malformed)?;
                u8::try_from(high * 16 + low).map_err(|_| malformed())?
            }
            other => other,
        });
    }
    String::from_utf8(out).map_err(|_| malformed())
}
