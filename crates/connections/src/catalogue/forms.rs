//! The forms of values that become a part of a URL. No form lets a value leave its label or path segment.

use serde::{Deserialize, Serialize};

use crate::{host::GateHost, invalid_input::Reason};

/// The form of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldForm {
    /// One label of a host name: 1 to 63 letters, digits and hyphens.
    DnsLabel,
    /// The name of an external host.
    Host,
    /// 1 to 128 letters, digits, dots, hyphens and underscores, and not only dots.
    PathSegment,
    /// 1 to 20 digits.
    Digits,
    /// An e-mail address.
    Email,
    /// One of the field's options.
    Choice,
}

impl FieldForm {
    /// Checks a value and returns it in its normal form.
    pub(super) fn check(self, value: &str, options: &[String]) -> Result<String, Reason> {
        let bytes = || value.bytes();
        let (is_valid, expected) = match self {
            Self::DnsLabel => {
                let is_plain = bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                let is_label =
                    (1..=63).contains(&value.len()) && !value.starts_with('-') && !value.ends_with('-');
                (is_plain && is_label, "1 to 63 letters, digits and hyphens")
            }
            Self::Host => return Ok(GateHost::parse(value)?.as_str().to_owned()),
            Self::PathSegment => {
                let is_plain = bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
                let is_segment = (1..=128).contains(&value.len()) && bytes().any(|byte| byte != b'.');
                (is_plain && is_segment, "1 to 128 letters, digits, dots, hyphens and underscores")
            }
            Self::Digits => {
                let is_number = (1..=20).contains(&value.len()) && bytes().all(|byte| byte.is_ascii_digit());
                (is_number, "1 to 20 digits")
            }
            Self::Email => {
                let (local, domain) = value.split_once('@').unwrap_or_default();
                let is_plain =
                    bytes().all(|byte| byte.is_ascii_graphic() && !b":/\\?#{}<>\"%,;".contains(&byte));
                let is_email =
                    is_plain && value.len() <= 254 && !local.is_empty() && GateHost::parse(domain).is_ok();
                (is_email, "an e-mail address")
            }
            Self::Choice => (options.iter().any(|option| option == value), "one of the options of the field"),
        };
        if !is_valid {
            return Err(Reason::Form(expected));
        }
        Ok(if self == Self::DnsLabel { value.to_ascii_lowercase() } else { value.to_owned() })
    }
}
