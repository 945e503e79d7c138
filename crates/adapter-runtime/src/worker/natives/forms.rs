//! Forms as bytes: multipart/form-data (RFC 7578) and application/x-www-form-urlencoded (URL standard, section 5.1).

use std::{iter, ops::Range};

use memchr::memmem;
use url::form_urlencoded;

/// Parts of one form, at most.
pub(super) const MAX_PARTS: usize = 1000;
/// Bytes of the header lines of one part, at most.
const MAX_PART_HEAD: usize = 16 << 10;

/// An entry of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Name of the file, if the entry is one.
    pub(super) filename: Option<String>,
    pub(super) content_type: String,
    pub(super) content: Content,
}

/// Where the content of an entry is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// In the body.
    Range(Range<usize>),
    Text(String),
}

/// Returns the entries of a body with this `Content-Type`, or what is wrong with it.
pub(super) fn parse(content_type: &str, body: &[u8]) -> Result<Vec<Entry>, String> {
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    match essence.trim().to_ascii_lowercase().as_str() {
        "multipart/form-data" => {
            let boundary = find_parameter(parameters, "boundary")
                .filter(|boundary| !boundary.is_empty())
                .ok_or("the content type of the form has no boundary")?;
            parse_multipart(body, boundary.as_bytes())
        }
        "application/x-www-form-urlencoded" => Ok(form_urlencoded::parse(body)
            .map(|(name, value)| Entry {
                name: name.into_owned(),
                filename: None,
                content_type: String::new(),
                content: Content::Text(value.into_owned()),
            })
            .collect()),
        _ => Err("the body is no form: its content type is neither multipart/form-data nor \
                  application/x-www-form-urlencoded"
            .into()),
    }
}

fn parse_multipart(body: &[u8], boundary: &[u8]) -> Result<Vec<Entry>, String> {
    const UNFINISHED: &str = "the form has no end: its last boundary is missing";
    let delimiter = [b"\r\n--", boundary].concat();
    let finder = memmem::Finder::new(&delimiter);
    // What precedes the first boundary is no part. At the start of the body, a boundary has no line break before it.
    let mut at = if body.starts_with(&delimiter[2..]) {
        delimiter.len() - 2
    } else {
        finder.find(body).ok_or(UNFINISHED)? + delimiter.len()
    };
    let mut entries = Vec::new();
    loop {
        let rest = &body[at..];
        if rest.starts_with(b"--") {
            return Ok(entries);
        }
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if !rest[padding..].starts_with(b"\r\n") {
            return Err(if rest.len() <= padding + 1 {
                UNFINISHED
            } else {
                "a boundary of the form is not on a line of its own"
            }
            .into());
        }
        if entries.len() == MAX_PARTS {
            return Err(format!("the form has more than {MAX_PARTS} parts"));
        }
        // The line break after a boundary is also the one before the content if a part has no header.
        let head_start = at + padding + 2;
        let head = &body[at + padding..body.len().min(head_start + MAX_PART_HEAD)];
        let head_length = memmem::find(head, b"\r\n\r\n").ok_or_else(|| {
            if head_start + MAX_PART_HEAD < body.len() {
                "the header of a part is too long"
            } else {
                UNFINISHED
            }
        })?;
        let content_start = at + padding + head_length + 4;
        // An empty part ends with the line break of its header.
        let content_end = content_start - 2 + finder.find(&body[content_start - 2..]).ok_or(UNFINISHED)?;
        let head = head.get(2..head_length).unwrap_or_default();
        entries.push(parse_head(head, content_start.min(content_end)..content_end)?);
        at = content_end + delimiter.len();
    }
}

fn parse_head(head: &[u8], content: Range<usize>) -> Result<Entry, String> {
    let head = String::from_utf8_lossy(head);
    let (mut name, mut filename, mut content_type) = (None, None, None);
    for line in head.split("\r\n").filter(|line| !line.is_empty()) {
        let (field, value) = line.split_once(':').ok_or("a header line of a part has no colon")?;
        match field.trim().to_ascii_lowercase().as_str() {
            "content-disposition" => {
                let (kind, parameters) = value.split_once(';').unwrap_or((value, ""));
                if !kind.trim().eq_ignore_ascii_case("form-data") {
                    return Err("the content disposition of a part is not form-data".into());
                }
                check_parameters(parameters)?;
                name = find_parameter(parameters, "name").map(|name| unescape_name(&name));
                filename = find_parameter(parameters, "filename").map(|name| unescape_name(&name));
            }
            "content-type" => content_type = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let content_type = content_type.unwrap_or_else(|| "text/plain".to_owned());
    let name = name.ok_or("a part of the form has no name")?;
    Ok(Entry { name, filename, content_type, content: Content::Range(content) })
}

/// A parameter of a header.
struct Parameter<'a> {
    name: &'a str,
    /// A token, or what is between quotation marks; `None` if the second of them is missing.
    value: Option<&'a str>,
    /// Text between a quoted value and the next parameter.
    trailing: &'a str,
}

/// Splits the parameters of a header. There are no escapes in a quoted value: its first quotation mark ends it.
fn split_parameters(mut parameters: &str) -> impl Iterator<Item = Parameter<'_>> {
    iter::from_fn(move || {
        let (name, rest) = parameters.split_once('=')?;
        // A name without a value ends at the semicolon before the next one.
        let name = name.rsplit(';').next().unwrap_or(name).trim();
        let quoted = rest.strip_prefix('"').map(|quoted| quoted.split_once('"'));
        let (value, rest) = match quoted {
            Some(Some((value, rest))) => (Some(value), rest),
            Some(None) => (None, ""),
            None => (None, rest),
        };
        let (token, rest) = rest.split_once(';').unwrap_or((rest, ""));
        parameters = rest;
        Some(match quoted {
            Some(_) => Parameter { name, value, trailing: token.trim() },
            None => Parameter { name, value: Some(token.trim()), trailing: "" },
        })
    })
}

fn find_parameter(parameters: &str, wanted: &str) -> Option<String> {
    let found = split_parameters(parameters).find(|parameter| parameter.name.eq_ignore_ascii_case(wanted))?;
    found.value.map(str::to_owned)
}

/// Refuses parameters of a part of which something would be lost.
fn check_parameters(parameters: &str) -> Result<(), String> {
    for Parameter { value, trailing, .. } in split_parameters(parameters) {
        if value.is_none() {
            return Err("a name in the header of a part has no closing quotation mark".into());
        }
        if !trailing.is_empty() {
            let message = "something follows the closing quotation mark of a name in the header of a part; write a \
                           quotation mark in a name as %22";
            return Err(message.into());
        }
    }
    Ok(())
}

/// Undoes what senders do to the characters that would end a name (HTML standard, section 4.10.22.8).
fn unescape_name(name: &str) -> String {
    name.replace("%0A", "\n").replace("%0D", "\r").replace("%22", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Result<Vec<(String, Option<String>, String)>, String> {
        let entries = parse("multipart/form-data; charset=x; boundary=\"b b\"", body.as_bytes())?;
        let text = |content| match content {
            Content::Range(range) => body[range].to_owned(),
            Content::Text(text) => text,
        };
        Ok(entries.into_iter().map(|entry| (entry.name, entry.filename, text(entry.content))).collect())
    }

    #[test]
    fn parts_are_found_between_boundaries() {
        let body = "preamble\r\n--b b \t\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n--b\r\n--b b\r\n\
                    content-disposition: FORM-DATA; x; filename=f.txt; name=\"%22n%0D%0A\"\r\nContent-Type: text/css\r\n\r\n\r\n--b b--epilogue";
        let found = names(body).unwrap();
        assert_eq!(
            found,
            [
                ("a".to_owned(), None, "--b".to_owned()),
                ("\"n\r\n".to_owned(), Some("f.txt".to_owned()), String::new())
            ]
        );
        assert_eq!(names("--b b--").unwrap(), []);
    }

    #[test]
    fn what_is_no_form_is_refused_and_never_panics() {
        let good = "--b b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ntext\r\n--b b--\r\n";
        assert!(names(good).is_ok());
        // Everything up to the two dashes is needed; every cut before them is noticed.
        for end in 0..good.len() - 2 {
            assert!(names(&good[..end]).is_err(), "{end}");
        }
        for bad in [
            "--b bx\r\n\r\n--b b--",
            "--b b\r\n\r\ntext\r\n--b b--",
            "--b b\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--b b--",
            "--b b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n\r\n--b b--",
            "--b b\r\nno colon\r\n\r\n\r\n--b b--",
            "--b b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q\\\"r\"\r\n\r\n\r\n--b b--",
            "--b b\r\nContent-Disposition: form-data; name=\"a\" x; b=c\r\n\r\n\r\n--b b--",
            "--b b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"x\r\n\r\n\r\n--b b--",
        ] {
            assert!(names(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parts_and_headers_are_bounded() {
        let part = "--b b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n";
        assert_eq!(names(&format!("{}--b b--", part.repeat(MAX_PARTS))).unwrap().len(), MAX_PARTS);
        let refused = names(&format!("{}--b b--", part.repeat(10_000))).unwrap_err();
        assert_eq!(refused, "the form has more than 1000 parts");
        let long = format!("--b b\r\nX: {}\r\n\r\n\r\n--b b--", "x".repeat(MAX_PART_HEAD));
        assert_eq!(names(&long).unwrap_err(), "the header of a part is too long");
    }
}
