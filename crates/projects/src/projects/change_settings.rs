//! Changing what a project's data API allows.

use std::ops::RangeInclusive;

use kernel::{Context, Randomness, id::ProjectId, vault::Vault};
use serde_json::json;
use url::Url;

use super::{Project, Settings};
use crate::{
    ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
    identity_provider::NewIdentityProvider,
};

const MAX_ORIGINS: usize = 20;

/// What is to be different; what is not said stays.
#[derive(Debug, Clone, Default)]
pub struct SettingsChange {
    /// Requests a minute with one key.
    pub rate_limit_per_min: Option<u32>,
    /// Requests a minute from one address.
    pub ip_rate_per_min: Option<u32>,
    /// The most a body may have, in KiB.
    pub max_body_kb: Option<u32>,
    /// Which sites' browsers may call.
    pub allowed_origins: Option<Vec<String>>,
    /// Whose tokens tell signed-in people; `Some(None)` for nobody's.
    pub identity: Option<Option<NewIdentityProvider>>,
}

impl SettingsChange {
    /// The settings with these changes.
    ///
    /// # Errors
    /// Naming the field that is off.
    pub fn apply(
        self,
        mut settings: Settings,
        vault: &Vault,
        random: &dyn Randomness,
        project: ProjectId,
    ) -> Result<Settings, ProjectError> {
        if let Some(rate) = self.rate_limit_per_min {
            settings.rate_limit_per_min = check_rate("rateLimitPerMin", rate)?;
        }
        if let Some(rate) = self.ip_rate_per_min {
            settings.ip_rate_per_min = check_rate("ipRatePerMin", rate)?;
        }
        if let Some(size) = self.max_body_kb {
            settings.max_body_kb = check_range("maxBodyKb", size, 1..=1_024, "must be from 1 to 1,024")?;
        }
        if let Some(origins) = &self.allowed_origins {
            settings.allowed_origins = parse_origins(origins)?;
        }
        if let Some(identity) = self.identity {
            let before = settings.identity.take();
            let accept =
                |new: NewIdentityProvider| new.validate_and_seal(before.as_ref(), vault, random, project);
            settings.identity = identity.map(accept).transpose()?;
        }
        Ok(settings)
    }
}

fn check_rate(field: &'static str, rate: u32) -> Result<u32, ProjectError> {
    check_range(field, rate, 10..=100_000, "must be from 10 to 100,000")
}

fn check_range(
    field: &'static str,
    value: u32,
    bounds: RangeInclusive<u32>,
    what: &'static str,
) -> Result<u32, ProjectError> {
    if bounds.contains(&value) { Ok(value) } else { Err(ProjectError::InvalidField { field, what }) }
}

/// Parses origins and drops duplicates; the order stays.
fn parse_origins(texts: &[String]) -> Result<Vec<String>, ProjectError> {
    let invalid = |what| ProjectError::InvalidField { field: "allowedOrigins", what };
    if texts.len() > MAX_ORIGINS {
        return Err(invalid("may hold at most 20"));
    }
    let mut origins: Vec<String> = Vec::new();
    for text in texts {
        let origin = parse_origin(text)
            .ok_or_else(|| invalid("must hold origins such as https://shop.example, without a path"))?;
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Ok(origins)
}

/// An origin as browsers write it (RFC 6454 section 6.2).
fn parse_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let origin = url.origin().ascii_serialization();
    (bare && url.username().is_empty() && text.trim_end_matches('/').len() <= 200).then_some(origin)
}

/// Changes the settings of a project.
///
/// # Errors
/// When a field is out of bounds, or what the store says.
pub async fn change_settings(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    vault: &Vault,
    change: SettingsChange,
) -> Result<Project, ProjectError> {
    let workspace = right.member().workspace();
    let found = tx.project_for_update(workspace, right.project()).await?;
    let mut project = found.ok_or(ProjectError::ProjectNotFound)?;
    project.settings = change.apply(project.settings, vault, ctx.random(), project.id)?;
    tx.set_project_settings(workspace, project.id, &project.settings).await?;
    let Settings { rate_limit_per_min, ip_rate_per_min, max_body_kb, allowed_origins, identity } =
        &project.settings;
    // Keys may be secrets: who issues tokens is enough to tell.
    let detail = json!({
        "rateLimitPerMin": rate_limit_per_min,
        "ipRatePerMin": ip_rate_per_min,
        "maxBodyKb": max_body_kb,
        "allowedOrigins": allowed_origins,
        "issuer": identity.as_ref().map(|identity| &identity.issuer),
    });
    tx.audit(ctx.audit_entry("project.settings").workspace(workspace).target(project.id).detail(detail));
    Ok(project)
}

#[cfg(test)]
mod tests {
    use kernel::vault::MasterKeys;

    use super::*;
    use crate::identity_provider::tests::Zeros;

    #[test]
    fn settings_have_bounds() {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let project = ProjectId::from_uuid(uuid::Uuid::from_u128(7));
        let change = |change: SettingsChange| change.apply(Settings::default(), &vault, &Zeros, project);
        let good = SettingsChange {
            rate_limit_per_min: Some(10),
            max_body_kb: Some(64),
            allowed_origins: Some(vec!["https://Shop.example/".into(), "http://localhost:3000".into()]),
            ..SettingsChange::default()
        };
        let settings = change(good).unwrap();
        assert_eq!((settings.rate_limit_per_min, settings.ip_rate_per_min), (10, 3_000));
        assert_eq!(settings.allowed_origins, ["https://shop.example", "http://localhost:3000"]);
        for bad in
            ["*", "shop.example", "https://shop.example/path", "ftp://x", "https://u@x.example", "null"]
        {
            let bad = SettingsChange { allowed_origins: Some(vec![bad.into()]), ..SettingsChange::default() };
            assert!(change(bad).is_err());
        }
        for bad in [
            SettingsChange { rate_limit_per_min: Some(9), ..SettingsChange::default() },
            SettingsChange { ip_rate_per_min: Some(100_001), ..SettingsChange::default() },
            SettingsChange { max_body_kb: Some(0), ..SettingsChange::default() },
        ] {
            assert!(change(bad).is_err());
        }
    }
}
