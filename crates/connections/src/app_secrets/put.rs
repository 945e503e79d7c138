//! Giving a secret of an app its value.

use kernel::{Context, authority::AppAdmin, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{
    AppSecret, AppSecretError, AppSecretName, AppSecretTx, InvalidSecret, MAX_APP_SECRETS, MAX_SECRET_HOSTS,
    MAX_VALUE_CHARS, SealedAppSecret,
};
use crate::host::GateHost;

/// A secret as an admin gives it.
#[derive(Debug, Clone)]
pub struct AppSecretInput {
    /// Name in the code.
    pub name: String,
    /// Value.
    pub value: SecretString,
    /// Hosts that it may be sent to in a header.
    pub hosts: Vec<String>,
    /// True if the code gets the value, where its manifest asks for that too.
    pub clear: bool,
}

/// Gives a secret of an app a value, in place of the one before.
///
/// # Errors
/// * [`AppSecretError::Invalid`] when a field is refused
/// * [`AppSecretError::AppNotFound`] when the app was deleted
/// * [`AppSecretError::TooMany`] when the app has [`MAX_APP_SECRETS`] others
/// * [`AppSecretError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn put_app_secret(
    tx: &mut dyn AppSecretTx,
    ctx: &Context,
    admin: &AppAdmin,
    vault: &Vault,
    input: &AppSecretInput,
) -> Result<AppSecret, AppSecretError> {
    let (name, hosts) = validate(input)?;
    let (workspace, app) = (admin.member().workspace(), admin.app());
    let stored = tx.app_secrets_for_update(workspace, app).await?.ok_or(AppSecretError::AppNotFound)?;
    let before = stored.iter().find(|secret| secret.name == name);
    if before.is_none() && stored.len() as u64 >= MAX_APP_SECRETS {
        return Err(AppSecretError::TooMany);
    }
    let secret = AppSecret {
        workspace,
        app,
        name,
        hosts,
        clear: input.clear,
        version: before.map_or(0, |secret| secret.version) + 1,
        set_at: ctx.now,
        set_by: admin.member().user(),
    };
    let context = secret.sealing_context();
    let sealed = vault.seal(ctx.random(), &context.each_ref().map(String::as_str), &input.value);
    tx.put_app_secret(&SealedAppSecret { secret: secret.clone(), sealed }).await?;
    let hosts: Vec<_> = secret.hosts.iter().map(GateHost::as_str).collect();
    let entry = ctx.audit_entry("secret.set").workspace(workspace).app(app).target(app);
    tx.audit(entry.detail(json!({ "name": secret.name.as_str(), "hosts": hosts, "clear": secret.clear })));
    Ok(secret)
}

fn validate(input: &AppSecretInput) -> Result<(AppSecretName, Vec<GateHost>), InvalidSecret> {
    let name = input.name.parse()?;
    let value = input.value.expose_secret();
    if !(1..=MAX_VALUE_CHARS).contains(&value.chars().count()) {
        return Err(InvalidSecret::Length);
    }
    if input.hosts.len() > MAX_SECRET_HOSTS {
        return Err(InvalidSecret::TooManyHosts);
    }
    let mut hosts = Vec::with_capacity(input.hosts.len());
    for (index, host) in input.hosts.iter().enumerate() {
        hosts.push(GateHost::parse(host).map_err(|error| InvalidSecret::Host { index, error })?);
    }
    hosts.sort_unstable();
    hosts.dedup();
    if !hosts.is_empty() && !value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(InvalidSecret::NotHeaderText);
    }
    Ok((name, hosts))
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::testing::{FakeStore, app_admin, request, vault, workspace};

    fn input(name: &str) -> AppSecretInput {
        let hosts = vec!["API.example.com.".to_owned(), "api.example.com".to_owned()];
        AppSecretInput { name: name.to_owned(), value: "s3cret-of-the-app".into(), hosts, clear: false }
    }

    async fn put(tx: &mut FakeStore, input: &AppSecretInput) -> Result<AppSecret, AppSecretError> {
        let ctx = request();
        put_app_secret(tx, &ctx, &app_admin(&ctx), &vault(), input).await
    }

    fn opens(secret: &AppSecret, sealed: &str) -> bool {
        vault().open(&secret.sealing_context().each_ref().map(String::as_str), sealed).is_ok()
    }

    #[tokio::test]
    async fn a_secret_is_sealed_for_its_row_and_audited_without_its_value() {
        let mut tx = FakeStore::default();
        let first = put(&mut tx, &input("KEY")).await.unwrap();
        assert_eq!((first.workspace, first.version, first.hosts.len()), (workspace(), 1, 1));
        let stored = tx.app_secrets[0].clone();
        assert!(!stored.sealed.contains("s3cret") && opens(&first, &stored.sealed));
        for other in [
            AppSecret { app: id(99), ..first.clone() },
            AppSecret { workspace: id(99), ..first.clone() },
            AppSecret { name: "OTHER".parse().unwrap(), ..first.clone() },
            AppSecret { hosts: vec!["evil.example".parse().unwrap()], ..first.clone() },
            AppSecret { clear: true, ..first.clone() },
            AppSecret { version: 2, ..first.clone() },
        ] {
            assert!(!opens(&other, &stored.sealed), "{other:?}");
        }
        let second = put(&mut tx, &input("KEY")).await.unwrap();
        assert_eq!((second.version, tx.app_secrets.len()), (2, 1));
        assert!(!opens(&second, &stored.sealed), "an old ciphertext does not come back");
        assert_eq!(tx.work.audited_actions(), ["secret.set", "secret.set"]);
        assert!(!format!("{:?}", tx.work.audit).contains("s3cret"));
    }

    #[tokio::test]
    async fn refused_values_name_their_field() {
        let with = |change: fn(&mut AppSecretInput)| {
            let mut changed = input("KEY");
            change(&mut changed);
            changed
        };
        for (refused, expected) in [
            (input("2"), "`name` must be"),
            (with(|it| it.value = "".into()), "`value` must have 1 to 4096 characters"),
            (with(|it| it.value = "é".repeat(4097).into()), "`value` must have 1 to 4096 characters"),
            (with(|it| it.value = "a\nb".into()), "`value` has a character that a header cannot have"),
            (with(|it| it.hosts = vec!["a.example".to_owned(); 17]), "`hosts` may have at most 16 items"),
            (
                with(|it| it.hosts = vec!["a.example".to_owned(), "10.0.0.1".to_owned()]),
                "`hosts[1]` is an IP",
            ),
        ] {
            let error = put(&mut FakeStore::default(), &refused).await.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let lines = with(|it| (it.value, it.hosts) = ("a\nb".into(), Vec::new()));
        assert!(put(&mut FakeStore::default(), &lines).await.is_ok());
    }

    #[tokio::test]
    async fn a_deleted_app_gets_no_secret() {
        let mut tx = FakeStore { is_app_deleted: true, ..FakeStore::default() };
        assert!(matches!(put(&mut tx, &input("KEY")).await, Err(AppSecretError::AppNotFound)));
    }

    #[tokio::test]
    async fn an_app_has_a_limit_and_may_still_replace() {
        let mut tx = FakeStore::default();
        for number in 0..MAX_APP_SECRETS {
            put(&mut tx, &input(&format!("K{number}"))).await.unwrap();
        }
        assert!(matches!(put(&mut tx, &input("ONE_MORE")).await, Err(AppSecretError::TooMany)));
        assert!(put(&mut tx, &input("K7")).await.is_ok());
    }
}
