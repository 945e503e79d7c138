//! Changing the settings of a project's data API.

use std::ops::RangeInclusive;

use kernel::{Context, Randomness, id::ProjectId, vault::Vault};
use serde_json::json;
use url::Url;

use super::{Project, Settings};
use crate::{
    InvalidInput, ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
    identity_provider::{IgnoredKey, NewIdentityProvider},
};

const MAX_ORIGINS: usize = 20;

/// Changes to settings; a field that is `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct SettingsChange {
    /// Most requests a minute with one key; 10 to 100,000.
    pub rate_limit_per_min: Option<u32>,
    /// Most requests a minute from one IP address; 10 to 100,000.
    pub ip_rate_per_min: Option<u32>,
    /// Largest request body, 1 to 1,024 KiB.
    pub max_body_kb: Option<u32>,
    /// Origins whose pages may call the API from a browser; at most 20.
    pub allowed_origins: Option<Vec<String>>,
    /// Issuer of the tokens that identify signed-in people; `Some(None)` removes it.
    pub identity: Option<Option<NewIdentityProvider>>,
}

impl SettingsChange {
    /// Applies the changes to settings, and seals new symmetric keys for `project`. Returns the keys that were left out too.
    ///
    /// # Errors
    /// [`InvalidInput`] for the first field that is out of bounds.
    pub fn apply(
        self,
        mut settings: Settings,
        vault: &Vault,
        random: &dyn Randomness,
        project: ProjectId,
    ) -> Result<(Settings, Vec<IgnoredKey>), InvalidInput> {
        let mut ignored = Vec::new();
        if let Some(rate) = self.rate_limit_per_min {
            settings.rate_limit_per_min = check_rate(rate, InvalidInput::KeyRateLimit)?;
        }
        if let Some(rate) = self.ip_rate_per_min {
            settings.ip_rate_per_min = check_rate(rate, InvalidInput::AddressRateLimit)?;
        }
        if let Some(size) = self.max_body_kb {
            settings.max_body_kb = check_range(size, 1..=1_024, InvalidInput::BodySize)?;
        }
        if let Some(origins) = &self.allowed_origins {
            settings.allowed_origins = parse_origins(origins)?;
        }
        if let Some(identity) = self.identity {
            let before = settings.identity.take();
            let accept =
                |new: NewIdentityProvider| new.validate_and_seal(before.as_ref(), vault, random, project);
            if let Some((identity, left_out)) = identity.map(accept).transpose()? {
                settings.identity = Some(identity);
                ignored = left_out;
            }
        }
        Ok((settings, ignored))
    }
}

fn check_rate(rate: u32, refusal: InvalidInput) -> Result<u32, InvalidInput> {
    check_range(rate, 10..=100_000, refusal)
}

fn check_range(value: u32, bounds: RangeInclusive<u32>, refusal: InvalidInput) -> Result<u32, InvalidInput> {
    if bounds.contains(&value) { Ok(value) } else { Err(refusal) }
}

/// Parses origins and drops duplicates; the order stays.
fn parse_origins(texts: &[String]) -> Result<Vec<String>, InvalidInput> {
    if texts.len() > MAX_ORIGINS {
        return Err(InvalidInput::OriginCount);
    }
    let mut origins: Vec<String> = Vec::new();
    for text in texts {
        let origin = parse_origin(text).ok_or(InvalidInput::Origin)?;
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Ok(origins)
}

/// Parses an origin of at most 200 bytes and returns it as browsers write it (RFC 6454, section 6.2); none for anything
/// that is not an `http` or `https` origin.
fn parse_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let origin = url.origin().ascii_serialization();
    (bare && url.username().is_empty() && text.trim_end_matches('/').len() <= 200).then_some(origin)
}

/// Changes the settings of a project. Returns it, and the keys of its identity provider that were left out.
///
/// # Errors
/// * [`ProjectError::ProjectNotFound`] when the project was deleted
/// * [`ProjectError::InvalidInput`] when a field is out of bounds
/// * [`ProjectError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn change_settings(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    vault: &Vault,
    change: SettingsChange,
) -> Result<(Project, Vec<IgnoredKey>), ProjectError> {
    let workspace = right.member().workspace();
    let found = tx.project_for_update(workspace, right.project()).await?;
    let mut project = found.ok_or(ProjectError::ProjectNotFound)?;
    let (settings, ignored) = change.apply(project.settings, vault, ctx.random(), project.id)?;
    project.settings = settings;
    tx.set_project_settings(workspace, project.id, &project.settings).await?;
    let Settings { rate_limit_per_min, ip_rate_per_min, max_body_kb, allowed_origins, identity } =
        &project.settings;
    // Keys may be secrets, so that the entry names the issuer alone.
    let detail = json!({
        "rateLimitPerMin": rate_limit_per_min,
        "ipRatePerMin": ip_rate_per_min,
        "maxBodyKb": max_body_kb,
        "allowedOrigins": allowed_origins,
        "issuer": identity.as_ref().map(|identity| &identity.issuer),
    });
    tx.audit(ctx.audit_entry("project.settings").workspace(workspace).target(project.id).detail(detail));
    Ok((project, ignored))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::testing::{FakeTx, assert_audited, context_at, owner_of, project, vault};

    const SECRET: &str = "YSBzZWNyZXQgb2YgYXQgbGVhc3QgdGhpcnR5LXR3byBieXRlcw";

    fn provider(keys: &Value) -> NewIdentityProvider {
        let input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": keys });
        serde_json::from_value(input).unwrap()
    }

    fn origins(origins: &[&str]) -> SettingsChange {
        let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        SettingsChange { allowed_origins: Some(origins), ..SettingsChange::default() }
    }

    async fn change(tx: &mut FakeTx, change: SettingsChange) -> Result<Project, ProjectError> {
        let ctx = context_at(1_000);
        let changed = change_settings(tx, &ctx, &owner_of(&ctx, &project(7)), &vault(), change).await;
        changed.map(|(project, _)| project)
    }

    #[tokio::test]
    async fn only_the_given_settings_change() {
        let mut tx = FakeTx { projects: vec![project(7), project(8)], ..FakeTx::default() };
        let changed = change(
            &mut tx,
            SettingsChange {
                rate_limit_per_min: Some(10),
                max_body_kb: Some(64),
                ..origins(&["https://Shop.example/", "http://localhost:3000", "https://shop.example"])
            },
        );
        let changed = changed.await.unwrap();
        let expected = Settings {
            rate_limit_per_min: 10,
            max_body_kb: 64,
            allowed_origins: vec!["https://shop.example".to_owned(), "http://localhost:3000".to_owned()],
            ..Settings::default()
        };
        assert_eq!(changed, Project { settings: expected, ..project(7) });
        assert_eq!(tx.projects, [changed.clone(), project(8)]);
        let detail = json!({
            "rateLimitPerMin": 10,
            "ipRatePerMin": 3_000,
            "maxBodyKb": 64,
            "allowedOrigins": ["https://shop.example", "http://localhost:3000"],
            "issuer": null,
        });
        assert_audited(&tx.work, "project.settings", changed.id, Some(&detail));
    }

    #[tokio::test]
    async fn a_secret_key_is_stored_sealed_and_never_audited() {
        let mut tx = FakeTx::with_project(&project(7));
        let identity = Some(Some(provider(&json!([{ "kty": "oct", "k": SECRET, "kid": "a" }]))));
        change(&mut tx, SettingsChange { identity, ..SettingsChange::default() }).await.unwrap();

        let stored = tx.projects[0].settings.identity.clone().unwrap();
        assert_eq!(stored.verification_keys(&vault(), project(7).id).len(), 1);
        let sealed = stored.keys[0].sealed.clone().unwrap();
        assert!(!serde_json::to_string(&stored).unwrap().contains(SECRET), "{stored:?}");
        let detail = tx.work.audit[0].detail.clone().unwrap();
        assert_eq!(detail["issuer"], "https://id.example");
        assert!(!detail.to_string().contains(SECRET) && !detail.to_string().contains(&sealed), "{detail}");

        let identity = Some(Some(provider(&json!([{ "kty": "oct", "kid": "a" }]))));
        change(&mut tx, SettingsChange { identity, ..SettingsChange::default() }).await.unwrap();
        let kept = tx.projects[0].settings.identity.clone().unwrap();
        assert_eq!(kept.keys[0].sealed, Some(sealed), "a key named without `k` is kept");

        change(&mut tx, SettingsChange { identity: Some(None), ..SettingsChange::default() }).await.unwrap();
        assert_eq!(tx.projects, [project(7)]);
    }

    #[tokio::test]
    async fn settings_out_of_bounds_are_refused_and_change_nothing() {
        let mut tx = FakeTx::with_project(&project(7));
        let none = SettingsChange::default;
        let long = format!("https://{}.example", "x".repeat(200));
        let many: Vec<String> = (0..21).map(|number| format!("https://h{number}.example")).collect();
        let unfit = Some(Some(provider(&json!([]))));
        for (input, expected) in [
            (SettingsChange { rate_limit_per_min: Some(9), ..none() }, InvalidInput::KeyRateLimit),
            (SettingsChange { rate_limit_per_min: Some(100_001), ..none() }, InvalidInput::KeyRateLimit),
            (SettingsChange { ip_rate_per_min: Some(9), ..none() }, InvalidInput::AddressRateLimit),
            (SettingsChange { ip_rate_per_min: Some(100_001), ..none() }, InvalidInput::AddressRateLimit),
            (SettingsChange { max_body_kb: Some(0), ..none() }, InvalidInput::BodySize),
            (SettingsChange { max_body_kb: Some(1_025), ..none() }, InvalidInput::BodySize),
            (SettingsChange { allowed_origins: Some(many), ..none() }, InvalidInput::OriginCount),
            (origins(&["*"]), InvalidInput::Origin),
            (origins(&["null"]), InvalidInput::Origin),
            (origins(&["shop.example"]), InvalidInput::Origin),
            (origins(&["ftp://x"]), InvalidInput::Origin),
            (origins(&["https://shop.example/path"]), InvalidInput::Origin),
            (origins(&["https://u@x.example"]), InvalidInput::Origin),
            (origins(&[&long]), InvalidInput::Origin),
            (SettingsChange { identity: unfit, ..none() }, InvalidInput::VerificationKeyCount),
        ] {
            let refused = change(&mut tx, input.clone()).await;
            assert!(
                matches!(refused, Err(ProjectError::InvalidInput(ref invalid)) if *invalid == expected),
                "{input:?}: {refused:?}"
            );
        }
        assert_eq!(tx.projects, [project(7)]);
        assert!(tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_project_deleted_meanwhile_is_not_found() {
        let mut tx = FakeTx::default();
        let refused = change(&mut tx, SettingsChange::default()).await;
        assert!(matches!(refused, Err(ProjectError::ProjectNotFound)), "{refused:?}");
        assert!(tx.work.audit.is_empty());
    }
}
