//! Parameters in the format of OAuth (draft-ietf-oauth-v2-1, section 3): none may be repeated, an empty one counts as
//! missing, and an unknown one is ignored.

use std::collections::BTreeMap;

use application::{Problem, late_proof::LateProof};
use axum::{extract::Request, http::header};

use super::error::OAuthError;
use crate::http::extract::read_body_with;

/// Maximum length of a form or a query in bytes.
const MAX_FORM_BYTES: usize = 8 << 10;

/// Parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Parameters(BTreeMap<String, Vec<String>>);

impl Parameters {
    /// Parses a query or a form; `None` if it is too long.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MAX_FORM_BYTES {
            return None;
        }
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text) {
            parameters.entry(name.into_owned()).or_default().push(value.into_owned());
        }
        Some(Self(parameters))
    }

    /// Receives and parses the form of a client, which no credential beside the form authenticates.
    ///
    /// # Errors
    /// `invalid_request` if the body is not a form, is too long or repeats a parameter.
    pub(super) async fn from_form(request: Request) -> Result<Self, OAuthError> {
        Ok(Self::receive(request, &LateProof::of_nobody()).await?)
    }

    /// Receives and parses the form of a request.
    ///
    /// # Errors
    /// 400 `invalid_request` if the body is not a form or repeats a parameter; 413 `too_large` if it is too long; if it arrives
    /// late, those of the caller's rights.
    pub(super) async fn receive(request: Request, late_proof: &LateProof) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let what = "The body must be a form: Content-Type: application/x-www-form-urlencoded.";
            return Err(Problem::invalid(what));
        }
        let (body, _) = read_body_with(request, MAX_FORM_BYTES, late_proof).await?;
        let form = Self::parse(&body).unwrap_or_default();
        match form.has_duplicates() {
            false => Ok(form),
            true => Err(Problem::invalid("A parameter is given more than once.")),
        }
    }

    /// Returns `true` if a parameter is given more than once.
    pub(super) fn has_duplicates(&self) -> bool {
        self.0.values().any(|values| values.len() > 1)
    }

    /// Returns the value of a parameter that is given once and is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        match self.0.get(name).map(Vec::as_slice) {
            Some([value]) if !value.is_empty() => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a required parameter.
    ///
    /// # Errors
    /// `invalid_request` if it is missing.
    pub(super) fn require(&self, name: &'static str) -> Result<&str, OAuthError> {
        self.get(name)
            .ok_or_else(|| OAuthError::bad_request("invalid_request", format!("{name} is missing.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parameters_count_as_missing_and_repeated_ones_are_detected() {
        let form = Parameters::parse(b"a=1&b=&c=x+y%2Bz&unknown=1").unwrap();
        assert_eq!((form.get("a"), form.get("b"), form.get("c")), (Some("1"), None, Some("x y+z")));
        assert!(!form.has_duplicates());
        let form = Parameters::parse(b"a=1&a=1").unwrap();
        assert!(form.has_duplicates() && form.get("a").is_none());
        assert!(Parameters::parse(&vec![b'a'; MAX_FORM_BYTES + 1]).is_none());
    }
}
