//! The log line that the gate writes for each request. People read it, and programs parse it.

use std::{fmt, str::FromStr};

use kernel::id::ConnectionId;

/// A request in the gate's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressLogEntry {
    /// Method and target: `GET api.example.com`, or `GET through crm` for a connection.
    pub label: String,
    /// The connection that the label names; none in lines of earlier versions, and for a name that the manifest does not
    /// declare.
    pub connection_id: Option<ConnectionId>,
    /// Host of that connection; none in lines of earlier versions, and for a connection that was not found.
    pub connection_host: Option<String>,
    /// Outcome of the request.
    pub outcome: EgressOutcome,
    /// Duration in milliseconds; none in lines of earlier versions.
    pub duration_ms: Option<u64>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EgressOutcome {
    /// The request was sent; the status of the response.
    Allowed(u16),
    /// The request was not sent, or got no response; the stable code of the reason.
    Refused(String),
}

impl EgressLogEntry {
    /// Returns the method; `?` for one that gates do not support.
    #[must_use]
    pub fn method(&self) -> &str {
        self.label.split_once(' ').map_or("?", |(method, _)| method)
    }

    /// Returns the host; none when the URL had none, or it is not known to which the connection leads.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        if self.connection().is_some() {
            return self.connection_host.as_deref();
        }
        let (_, target) = self.label.split_once(' ')?;
        (!target.contains(' ')).then_some(target)
    }

    /// Returns the name of the connection that the request went through.
    #[must_use]
    pub fn connection(&self) -> Option<&str> {
        self.label.split_once(" through ").map(|(_, name)| name)
    }
}

impl fmt::Display for EgressLogEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        if let Some(id) = self.connection_id {
            write!(f, " ({id})")?;
            if let Some(host) = &self.connection_host {
                write!(f, " at {host}")?;
            }
        }
        match &self.outcome {
            EgressOutcome::Allowed(status) => write!(f, " allowed {status}")?,
            EgressOutcome::Refused(code) => write!(f, " refused {code}")?,
        }
        self.duration_ms.map_or(Ok(()), |millis| write!(f, " {millis} ms"))
    }
}

/// The error for a line that is not of the gate's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `METHOD HOST allowed STATUS` or `METHOD HOST refused CODE`")]
pub struct InvalidEgressLogEntry;

impl FromStr for EgressLogEntry {
    type Err = InvalidEgressLogEntry;

    fn from_str(text: &str) -> Result<Self, InvalidEgressLogEntry> {
        let timed = text.strip_suffix(" ms").and_then(|rest| rest.rsplit_once(' '));
        let timed = timed.and_then(|(rest, millis)| Some((rest, millis.parse().ok()?)));
        let (rest, duration_ms) = timed.map_or((text, None), |(rest, millis)| (rest, Some(millis)));
        let (rest, result) = rest.rsplit_once(' ').ok_or(InvalidEgressLogEntry)?;
        let (label, word) = rest.rsplit_once(' ').ok_or(InvalidEgressLogEntry)?;
        let outcome = match word {
            "allowed" => EgressOutcome::Allowed(result.parse().map_err(|_| InvalidEgressLogEntry)?),
            "refused" if !result.is_empty() => EgressOutcome::Refused(result.to_owned()),
            _ => return Err(InvalidEgressLogEntry),
        };
        let located = label.rsplit_once(") at ").filter(|(_, host)| !host.contains(' '));
        let (end, host) = located.map_or((label.len(), None), |(rest, host)| (rest.len() + 1, Some(host)));
        let identified = label[..end].strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let identified = identified.and_then(|(label, id)| Some((label, id.parse().ok()?)));
        let (label, connection_id) = identified.map_or((label, None), |(label, id)| (label, Some(id)));
        let connection_host = host.filter(|_| connection_id.is_some()).map(str::to_owned);
        if label.contains(' ') {
            Ok(Self { label: label.to_owned(), connection_id, connection_host, outcome, duration_ms })
        } else {
            Err(InvalidEgressLogEntry)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_line_prints_as_it_was_written() {
        for (text, method, host, connection, millis) in [
            ("GET api.example.com allowed 200 12 ms", "GET", Some("api.example.com"), None, Some(12)),
            ("POST evil.example refused egress_denied 0 ms", "POST", Some("evil.example"), None, Some(0)),
            ("GET evil.example refused egress_denied", "GET", Some("evil.example"), None, None),
            ("? (no proper host) refused invalid_url 0 ms", "?", None, None, Some(0)),
            ("GET through crm refused not_connected 0 ms", "GET", None, Some("crm"), Some(0)),
        ] {
            let entry: EgressLogEntry = text.parse().unwrap();
            assert_eq!(entry.to_string(), text);
            assert_eq!(
                (entry.method(), entry.host(), entry.connection()),
                (method, host, connection),
                "{text}"
            );
            assert_eq!((entry.duration_ms, entry.connection_id), (millis, None), "{text}");
        }
    }

    #[test]
    fn a_connection_is_named_by_its_id_too() {
        let id: ConnectionId = kernel::testing::id(1);
        for rest in ["allowed 200 12 ms", "refused not_connected 0 ms"] {
            let text = format!("GET through crm ({id}) {rest}");
            let entry: EgressLogEntry = text.parse().unwrap();
            assert_eq!(
                (entry.connection(), entry.connection_id, entry.host()),
                (Some("crm"), Some(id), None)
            );
            assert_eq!(entry.to_string(), text);
        }
        let text = format!("GET through crm ({id}) at api.example.com allowed 200 12 ms");
        let entry: EgressLogEntry = text.parse().unwrap();
        assert_eq!(
            (entry.connection(), entry.connection_id, entry.host()),
            (Some("crm"), Some(id), Some("api.example.com"))
        );
        assert_eq!((entry.to_string(), entry.label.as_str()), (text, "GET through crm"));
        let other: EgressLogEntry = "? (no proper host) refused invalid_url".parse().unwrap();
        assert_eq!((other.label.as_str(), other.connection_id), ("? (no proper host)", None));
    }

    #[test]
    fn other_lines_do_not_parse() {
        for text in
            ["", "GET", "GET a b", "GET a allowed yes", "a refused b", "GET a refused ", "hello there you"]
        {
            assert_eq!(text.parse::<EgressLogEntry>(), Err(InvalidEgressLogEntry), "{text:?}");
        }
    }
}
