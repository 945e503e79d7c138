//! Validation of a connection that a person describes by hand.

use kernel::request_headers::is_reserved;
use secrecy::SecretString;

use super::http::{BaseUrl, ExtraHeader, HttpConnection};
use crate::{
    auth::{Auth, AuthInput, AuthKind, check_header_name, without_repeated_word},
    gates::Method,
    invalid_input::{Field, InvalidInput, Reason, check_text},
    request_path::{is_ambiguous, is_under},
};

/// Most headers that a connection adds.
pub const MAX_HEADERS: usize = 8;
/// Longest path prefix or test path, in characters.
const MAX_PATH: usize = 512;

/// A header of a request to make a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderInput {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// A connection as a person describes it, not yet validated.
#[derive(Debug, Clone)]
pub struct HttpConnectionInput {
    /// Display name; 1 to 60 characters.
    pub display_name: String,
    /// Base URL; 9 to 700 characters.
    pub base_url: String,
    /// How requests prove themselves.
    pub auth: AuthInput,
    /// Methods; 1 to 5.
    pub methods: Vec<Method>,
    /// Path that requests must be under; default: `/`.
    pub path_prefix: Option<String>,
    /// Headers to add; at most 8.
    pub headers: Vec<HeaderInput>,
    /// Path of a request that changes nothing.
    pub test_path: Option<String>,
    /// Whether a test sends a request.
    pub testable: bool,
    /// Name of the preset that filled the form.
    pub preset: Option<String>,
    /// Secret; an update may leave it out.
    pub secret: Option<SecretString>,
}

/// A validated connection. Whether its secret is required depends on what is stored: see
/// [`secret_need`](super::secret_need).
#[derive(Debug, Clone)]
pub struct ValidHttpConnection {
    /// Display name.
    pub display_name: String,
    /// Address and proof.
    pub http: HttpConnection,
    /// Secret, in the shape that `auth` needs.
    pub secret: Option<SecretString>,
}

/// Returns the display name if it has 1 to 60 printable characters.
///
/// # Errors
/// [`InvalidInput`] about the display name.
pub fn check_display_name(text: &str) -> Result<String, InvalidInput> {
    check_text(Field::DisplayName, text, 1, 60)
}

impl HttpConnectionInput {
    /// Validates every field.
    ///
    /// # Errors
    /// [`InvalidInput`], which names the first invalid field.
    pub fn validate(self) -> Result<ValidHttpConnection, InvalidInput> {
        let display_name = check_display_name(&self.display_name)?;
        let base_url = BaseUrl::parse(&self.base_url)?;
        let auth = Auth::parse(self.auth)?;
        if matches!(auth.kind(), AuthKind::Url | AuthKind::AuthorizationCode) {
            return Err(InvalidInput::new(Field::Auth, Reason::ServerOnly));
        }
        base_url.check_placeholders(&auth, false)?;
        let methods = check_methods(self.methods)?;
        let path_prefix = check_prefix(self.path_prefix.as_deref().unwrap_or("/"))?;
        let headers = check_extra_headers(&self.headers, &auth)?;
        let test_path = self.test_path.map(|path| check_test_path(path, &path_prefix)).transpose()?;
        let preset = self.preset.map(|preset| check_text(Field::Preset, &preset, 1, 64)).transpose()?;
        let secret = self.secret.map(|secret| without_repeated_word(&self.base_url, secret));
        if let Some(secret) = &secret {
            auth.check_new_secret(secret)?;
        }
        let host = base_url.host().clone();
        let testable = self.testable;
        let http = HttpConnection {
            base_url,
            host,
            auth,
            methods,
            path_prefix,
            headers,
            test_path,
            testable,
            preset,
        };
        Ok(ValidHttpConnection { display_name, http, secret })
    }
}

fn check_methods(methods: Vec<Method>) -> Result<Vec<Method>, InvalidInput> {
    if !(1..=5).contains(&methods.len()) {
        return Err(InvalidInput::new(Field::Methods, Reason::Count { min: 1, max: 5 }));
    }
    if methods.iter().any(|method| matches!(method, Method::Head | Method::Options)) {
        return Err(InvalidInput::new(Field::Methods, Reason::Method));
    }
    let mut unique = methods.clone();
    unique.sort_unstable();
    unique.dedup();
    if unique.len() == methods.len() {
        Ok(methods)
    } else {
        Err(InvalidInput::new(Field::Methods, Reason::Repeated))
    }
}

fn check_path(field: &Field, text: &str) -> Result<(), InvalidInput> {
    let refuse = |reason| Err(InvalidInput::new(field.clone(), reason));
    if !(1..=MAX_PATH).contains(&text.chars().count()) {
        return refuse(Reason::Length { min: 1, max: MAX_PATH });
    }
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return refuse(Reason::UnsafeCharacter);
    }
    if !text.starts_with('/') {
        return refuse(Reason::NotAPath);
    }
    if is_ambiguous(text.split('?').next().unwrap_or_default()) {
        return refuse(Reason::AmbiguousPath);
    }
    Ok(())
}

fn check_prefix(text: &str) -> Result<String, InvalidInput> {
    check_path(&Field::PathPrefix, text)?;
    if text.contains(['?', '#', '{', '}']) {
        return Err(InvalidInput::new(Field::PathPrefix, Reason::QueryOrFragment));
    }
    let prefix = text.trim_end_matches('/');
    Ok(if prefix.is_empty() { "/".to_owned() } else { prefix.to_owned() })
}

fn check_test_path(text: String, prefix: &str) -> Result<String, InvalidInput> {
    check_path(&Field::TestPath, &text)?;
    if text.contains(['#', '{', '}']) {
        return Err(InvalidInput::new(Field::TestPath, Reason::QueryOrFragment));
    }
    if is_under(text.split('?').next().unwrap_or_default(), prefix) {
        Ok(text)
    } else {
        Err(InvalidInput::new(Field::TestPath, Reason::OutsidePrefix))
    }
}

fn check_extra_headers(headers: &[HeaderInput], auth: &Auth) -> Result<Vec<ExtraHeader>, InvalidInput> {
    if headers.len() > MAX_HEADERS {
        return Err(InvalidInput::new(Field::Headers, Reason::Count { min: 0, max: MAX_HEADERS }));
    }
    let mut checked: Vec<ExtraHeader> = Vec::with_capacity(headers.len());
    for (index, header) in headers.iter().enumerate() {
        let name = check_header_name(&Field::HeaderName(index), &header.name)?;
        if is_reserved(&name) || auth.header_names().contains(&name.as_str()) {
            return Err(InvalidInput::new(Field::HeaderName(index), Reason::ReservedHeader));
        }
        if checked.iter().any(|before| before.name.eq_ignore_ascii_case(&name)) {
            return Err(InvalidInput::new(Field::HeaderName(index), Reason::Repeated));
        }
        let value = check_text(Field::HeaderValue(index), &header.value, 1, 512)?;
        if !value.is_ascii() {
            return Err(InvalidInput::new(Field::HeaderValue(index), Reason::NotHeaderText));
        }
        checked.push(ExtraHeader { name: header.name.clone(), value });
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_input;

    #[test]
    fn a_valid_connection_passes_in_its_normal_form() {
        let input = HttpConnectionInput {
            path_prefix: Some("/v1/".to_owned()),
            test_path: Some("/v1/me?limit=1".to_owned()),
            headers: vec![HeaderInput { name: "Notion-Version".to_owned(), value: "2022-06-28".to_owned() }],
            ..http_input()
        };
        let valid = input.validate().unwrap();
        assert_eq!(valid.http.path_prefix, "/v1");
        assert_eq!(valid.http.injected_headers(), ["authorization", "Notion-Version"]);
        assert_eq!(http_input().validate().unwrap().http.path_prefix, "/");
    }

    #[test]
    fn the_first_invalid_field_is_named() {
        let with = |change: fn(&mut HttpConnectionInput)| {
            let mut input = http_input();
            change(&mut input);
            input.validate().map_or_else(|error| error.field.to_string(), |_| "ok".to_owned())
        };
        let header = |name: &str, value: &str| {
            let mut input = http_input();
            input.headers = vec![HeaderInput { name: name.to_owned(), value: value.to_owned() }];
            input.validate().map_or_else(|error| error.field.to_string(), |_| "ok".to_owned())
        };
        for (got, field) in [
            (with(|input| input.display_name = String::new()), "displayName"),
            (with(|input| input.display_name = "x".repeat(60)), "ok"),
            (with(|input| input.display_name = "x".repeat(61)), "displayName"),
            (with(|input| input.base_url = "http://a.example/".to_owned()), "baseUrl"),
            (with(|input| input.base_url = "https://a.example/{secret}".to_owned()), "baseUrl"),
            (with(|input| input.base_url = "https://a.example/{x}".to_owned()), "baseUrl"),
            (with(|input| input.auth = AuthInput::PathToken {}), "baseUrl"),
            (with(|input| input.auth = AuthInput::Url {}), "auth"),
            (with(|input| input.auth = AuthInput::AuthorizationCode {}), "auth"),
            (with(|input| input.methods = vec![]), "methods"),
            (with(|input| input.methods = vec![Method::Head]), "methods"),
            (with(|input| input.methods = vec![Method::Get; 2]), "methods"),
            (with(|input| input.path_prefix = Some("v1".to_owned())), "pathPrefix"),
            (with(|input| input.path_prefix = Some("/a/../b".to_owned())), "pathPrefix"),
            (with(|input| input.path_prefix = Some("/a?b".to_owned())), "pathPrefix"),
            (with(|input| input.path_prefix = Some(format!("/{}", "x".repeat(512)))), "pathPrefix"),
            (with(|input| input.test_path = Some("https://evil.example/".to_owned())), "testPath"),
            (
                with(|input| {
                    (input.path_prefix, input.test_path) = (Some("/a".to_owned()), Some("/b".to_owned()));
                }),
                "testPath",
            ),
            (with(|input| input.preset = Some(String::new())), "preset"),
            (with(|input| input.secret = Some("a\nb".into())), "secret"),
            (
                with(|input| {
                    input.headers = vec![HeaderInput { name: "a".to_owned(), value: "b".to_owned() }; 2];
                }),
                "headers[1].name",
            ),
            (
                with(|input| {
                    input.headers = vec![HeaderInput { name: "a".to_owned(), value: "b".to_owned() }; 9];
                }),
                "headers",
            ),
            (header("Authorization", "x"), "headers[0].name"),
            (header("Host", "x"), "headers[0].name"),
            (header("a b", "x"), "headers[0].name"),
            (header("x-a", ""), "headers[0].value"),
            (header("x-a", "b\r\nc: d"), "headers[0].value"),
            (header("x-a", &"x".repeat(513)), "headers[0].value"),
            (header("x-a", "b"), "ok"),
        ] {
            assert_eq!(got, field);
        }
    }
}
