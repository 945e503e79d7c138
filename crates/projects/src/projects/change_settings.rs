//! Changing what a project's data API allows.

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
        let number = |field, value: Option<u32>, least, most, what, slot: &mut u32| match value {
            Some(value) if !(least..=most).contains(&value) => {
                Err(ProjectError::InvalidField { field, what })
            }
            value => {
                *slot = value.unwrap_or(*slot);
                Ok(())
            }
        };
        let rate = "must be from 10 to 100,000";
        number(
            "rateLimitPerMin",
            self.rate_limit_per_min,
            10,
            100_000,
            rate,
            &mut settings.rate_limit_per_min,
        )?;
        number("ipRatePerMin", self.ip_rate_per_min, 10, 100_000, rate, &mut settings.ip_rate_per_min)?;
        number(
            "maxBodyKb",
            self.max_body_kb,
            1,
            1_024,
            "must be from 1 to 1,024",
            &mut settings.max_body_kb,
        )?;
        if let Some(origins) = self.allowed_origins {
            let invalid = |what| ProjectError::InvalidField { field: "allowedOrigins", what };
            if origins.len() > MAX_ORIGINS {
                return Err(invalid("may hold at most 20"));
            }
            let mut seen: Vec<String> = Vec::new();
            for text in origins {
                let origin = parse_origin(&text).ok_or_else(|| {
                    invalid("must hold origins such as https://shop.example, without a path")
                })?;
                if !seen.contains(&origin) {
                    seen.push(origin);
                }
            }
            settings.allowed_origins = seen;
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
