//! Public forms: guards in place of a secret (specification part A, "Public web form").

use std::{borrow::Cow, collections::BTreeMap, num::NonZeroU16};

use http::{HeaderMap, Uri, header::ORIGIN, uri::Authority};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::WebhookRefusal;
use crate::{InvalidInput, RunsError};

/// Most bytes of a submission: 32 KiB.
pub const MAX_BODY: usize = 32 << 10;
/// Most fields of a submission, not counting the hidden one.
pub const MAX_FIELDS: usize = 40;
/// Default for submissions of a form in a minute.
pub const DEFAULT_PER_MINUTE: u16 = 20;
/// Most submissions of a form in a minute from one IP address.
pub const PER_MINUTE_PER_ADDRESS: u16 = 5;
/// Most sites that may send a form.
pub const MAX_ALLOWED_SITES: usize = 5;
const MAX_SITE_BYTES: usize = 200;
/// Most bytes of the URL of the page after a form.
pub const MAX_REDIRECT_BYTES: usize = 2000;

/// Settings of a public form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormSettings {
    /// Name of the field that people do not see. A program that fills it gives itself away.
    pub hidden_field: String,
    /// Origins whose pages may submit the form; any if empty.
    pub allowed_sites: Vec<String>,
    /// URL that a browser is sent to after a submission; a short page by default.
    pub redirect: Option<String>,
}

impl Default for FormSettings {
    fn default() -> Self {
        Self { hidden_field: "_gotcha".to_owned(), allowed_sites: Vec::new(), redirect: None }
    }
}

/// Settings to change. `None` keeps the current value.
#[derive(Debug, Clone, Default)]
pub struct ChangeForm {
    /// Name of the hidden field; 1 to 64 letters, digits, underscores or hyphens.
    pub hidden_field: Option<String>,
    /// Allowed origins; at most 5.
    pub allowed_sites: Option<Vec<String>>,
    /// Redirect, an https URL of at most 2,000 characters; `Some(None)` removes it.
    pub redirect: Option<Option<String>>,
}

impl FormSettings {
    /// Returns the settings after a change.
    ///
    /// # Errors
    /// [`RunsError::InvalidInput`] for the first field that is out of bounds.
    pub fn apply(&self, change: ChangeForm) -> Result<Self, RunsError> {
        let mut settings = self.clone();
        if let Some(name) = change.hidden_field {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if !(1..=64).contains(&name.len()) || !name.bytes().all(plain) {
                return Err(InvalidInput::HiddenField.into());
            }
            settings.hidden_field = name;
        }
        if let Some(sites) = change.allowed_sites {
            if sites.len() > MAX_ALLOWED_SITES {
                return Err(InvalidInput::SiteCount.into());
            }
            settings.allowed_sites = sites.iter().map(|site| parse_origin(site)).collect::<Result<_, _>>()?;
        }
        if let Some(redirect) = change.redirect {
            if redirect.as_deref().is_some_and(|redirect| !is_https_url(redirect)) {
                return Err(InvalidInput::Redirect.into());
            }
            settings.redirect = redirect;
        }
        Ok(settings)
    }

    /// Checks that each `Origin` is listed (RFC 6454, section 7). A request without one passes: programs need not send
    /// it, but browsers do.
    ///
    /// # Errors
    /// [`WebhookRefusal::BadOrigin`] for an origin that is not listed.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), WebhookRefusal> {
        let listed = |origin: &[u8]| self.allowed_sites.iter().any(|site| site.as_bytes() == origin);
        if self.allowed_sites.is_empty()
            || headers.get_all(ORIGIN).iter().all(|origin| listed(origin.as_bytes()))
        {
            Ok(())
        } else {
            Err(WebhookRefusal::BadOrigin)
        }
    }

    /// Returns true if a program filled the hidden field.
    ///
    /// # Errors
    /// [`WebhookRefusal::InvalidBody`] when the submission is not an object, or has more than [`MAX_FIELDS`] fields.
    pub fn is_honeypot_hit(&self, input: &RawValue) -> Result<bool, WebhookRefusal> {
        let invalid = |what: &str| WebhookRefusal::InvalidBody(what.to_owned());
        let fields: Option<BTreeMap<Cow<'_, str>, &RawValue>> =
            serde_json::from_str(input.get()).map_err(|_| invalid("a form must send an object"))?;
        let Some(mut fields) = fields else { return Ok(false) };
        let filled = fields.remove(self.hidden_field.as_str()).is_some_and(is_filled);
        if fields.len() > MAX_FIELDS {
            return Err(WebhookRefusal::InvalidBody(format!("it has more than {MAX_FIELDS} fields")));
        }
        Ok(filled)
    }
}

/// Returns true if a field has a value that is not empty.
fn is_filled(value: &RawValue) -> bool {
    let empty = |text: &str| matches!(text, "\"\"" | "null");
    match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
        Ok(values) => values.iter().any(|value| !empty(value.get())),
        Err(_) => !empty(value.get()),
    }
}

/// Returns a site's origin as browsers serialize it (RFC 6454, section 6.2).
fn parse_origin(site: &str) -> Result<String, InvalidInput> {
    let invalid_origin = || InvalidInput::Site;
    let uri: Uri = Some(site)
        .filter(|site| site.len() <= MAX_SITE_BYTES)
        .and_then(|site| site.parse().ok())
        .ok_or_else(invalid_origin)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(invalid_origin());
    };
    let default_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return Err(invalid_origin()),
    };
    let bare = !authority.as_str().contains('@') && is_host(authority.host());
    if !bare || !matches!(uri.path(), "" | "/") || uri.query().is_some() || site.contains('#') {
        return Err(invalid_origin());
    }
    let host = authority.host().to_ascii_lowercase();
    Ok(match parse_port(authority).map_err(|InvalidPort| invalid_origin())? {
        Some(port) if port.get() != default_port => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    })
}

/// Returns true if a browser can send this host. A pattern such as `*.example.com` is not a host, and would match
/// nothing.
fn is_host(host: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.starts_with('[') || host.strip_suffix('.').unwrap_or(host).split('.').all(label)
}

/// Text after a host that is not a port, such as `:*`, which [`Uri`] accepts.
struct InvalidPort;

/// Returns the port of an authority without user information, if it names one.
fn parse_port(authority: &Authority) -> Result<Option<NonZeroU16>, InvalidPort> {
    match authority.as_str().strip_prefix(authority.host()).ok_or(InvalidPort)? {
        "" => Ok(None),
        rest => rest
            .strip_prefix(':')
            .filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|port| port.parse().ok())
            .map(Some)
            .ok_or(InvalidPort),
    }
}

fn is_https_url(url: &str) -> bool {
    let plain = url.len() <= MAX_REDIRECT_BYTES && url.bytes().all(|byte| byte.is_ascii_graphic());
    plain
        && url.parse::<Uri>().is_ok_and(|uri| {
            uri.scheme_str() == Some("https")
                && uri.authority().is_some_and(|authority| parse_port(authority).is_ok())
                && uri.host().is_some_and(|host| !host.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: ChangeForm) -> Result<FormSettings, RunsError> {
        FormSettings::default().apply(change)
    }

    fn sites(sites: &[&str]) -> Result<Vec<String>, RunsError> {
        let sites = Some(sites.iter().map(|site| (*site).to_owned()).collect());
        with(ChangeForm { allowed_sites: sites, ..ChangeForm::default() })
            .map(|settings| settings.allowed_sites)
    }

    #[test]
    fn sites_are_stored_as_browsers_serialize_them() {
        let kept = sites(&[
            "HTTPS://WWW.Example.com",
            "https://a.example:443/",
            "http://localhost:3000",
            "http://a:80",
        ]);
        let expected = ["https://www.example.com", "https://a.example", "http://localhost:3000", "http://a"];
        assert_eq!(kept.unwrap(), expected);
        for bad in [
            "",
            "a.example",
            "https://a.example:*",
            "https://a.example:",
            "https://a.example:0",
            "https://a.example:65536",
            "https://a.example:80x",
            "https://a.example:+80",
            "https://*.example",
            "https://a.*",
            "//a.example",
            "https://",
            "https://a.example/x",
            "https://a.example?x",
            "https://a.example/#x",
            "https://u@a.example",
            "ftp://a.example",
            "null",
            "*",
            "https://a b",
            "https://қала.example",
        ] {
            assert!(sites(&[bad]).is_err(), "{bad}");
        }
        assert_eq!(sites(&["https://a.example"; 5]).unwrap().len(), 5);
        assert!(sites(&["https://a.example"; 6]).is_err());
    }

    #[test]
    fn a_redirect_is_https_or_none() {
        let redirect = |url: &str| {
            with(ChangeForm { redirect: Some(Some(url.to_owned())), ..ChangeForm::default() }).is_ok()
        };
        assert!(redirect("https://a.example/thanks?x=1#y"));
        let long = format!("https://a.example/{}", "x".repeat(2000));
        for bad in [
            "",
            "http://a.example",
            "https://a.example:*/x",
            "https://a.example:0",
            "https://u@a.example",
            "https://",
            "https:///x",
            "//a.example",
            "https://u@a.example",
            "javascript:x",
            "https://a.example/\r\nx",
            &long,
        ] {
            assert!(!redirect(bad), "{bad}");
        }
        let kept = FormSettings { redirect: Some("https://a.example".to_owned()), ..FormSettings::default() };
        assert_eq!(kept.apply(ChangeForm::default()).unwrap(), kept);
        let removed = kept.apply(ChangeForm { redirect: Some(None), ..ChangeForm::default() }).unwrap();
        assert_eq!(removed.redirect, None);
    }

    #[test]
    fn a_hidden_field_has_a_plain_name() {
        let name = |name: &str| {
            with(ChangeForm { hidden_field: Some(name.to_owned()), ..ChangeForm::default() }).is_ok()
        };
        assert!(name("website") && name(&"x".repeat(64)));
        for bad in ["", "a b", "a[]", "é", &"x".repeat(65)] {
            assert!(!name(bad), "{bad}");
        }
    }

    #[test]
    fn only_a_browser_on_an_unlisted_site_is_refused() {
        let settings =
            FormSettings { allowed_sites: sites(&["https://a.example"]).unwrap(), ..FormSettings::default() };
        let from = |origins: &[&str]| {
            let headers = origins.iter().map(|origin| (ORIGIN, origin.parse().unwrap()));
            let mut map = HeaderMap::new();
            headers.for_each(|(name, value)| {
                map.append(name, value);
            });
            map
        };
        assert!(settings.check_origin(&from(&[])).is_ok());
        assert!(settings.check_origin(&from(&["https://a.example"])).is_ok());
        for other in [
            &["https://b.example"][..],
            &["null"],
            &["https://a.example:444"],
            &["https://a.example", "https://b.example"],
        ] {
            assert!(settings.check_origin(&from(other)).is_err(), "{other:?}");
            assert!(FormSettings::default().check_origin(&from(other)).is_ok());
        }
    }

    #[test]
    fn the_hidden_field_gives_programs_away() {
        let trapped = |json: &str| {
            FormSettings::default().is_honeypot_hit(&RawValue::from_string(json.to_owned()).unwrap())
        };
        for honest in [
            "null",
            "{}",
            r#"{"a":"b"}"#,
            r#"{"_gotcha":""}"#,
            r#"{"_gotcha":["",""]}"#,
            r#"{"_gotcha":null}"#,
        ] {
            assert!(!trapped(honest).unwrap(), "{honest}");
        }
        for program in [
            r#"{"_gotcha":"x"}"#,
            r#"{"_gotcha":" "}"#,
            r#"{"_gotcha":["","x"]}"#,
            r#"{"_gotcha":1}"#,
            r#"{"_\u0067otcha":"x"}"#,
        ] {
            assert!(trapped(program).unwrap(), "{program}");
        }
        for no_form in ["[]", "1", "\"x\""] {
            assert!(trapped(no_form).is_err(), "{no_form}");
        }
    }

    #[test]
    fn forty_fields_and_the_hidden_one_pass() {
        let fields = |count: usize| {
            let fields: Vec<String> = (0..count).map(|number| format!("\"f{number}\":[1,2]")).collect();
            RawValue::from_string(format!("{{\"_gotcha\":\"\",{}}}", fields.join(","))).unwrap()
        };
        assert!(FormSettings::default().is_honeypot_hit(&fields(40)).is_ok());
        assert!(FormSettings::default().is_honeypot_hit(&fields(41)).is_err());
    }
}
