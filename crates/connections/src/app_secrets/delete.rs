//! Deleting a secret of an app.

use kernel::{Context, authority::AppAdmin};
use serde_json::json;

use super::{AppSecretError, AppSecretName, AppSecretTx};

/// Deletes a secret of an app. Code that asks for it from now on fails.
///
/// # Errors
/// * [`AppSecretError::AppNotFound`] when the app was deleted
/// * [`AppSecretError::NotFound`] when the app has no such secret
/// * [`AppSecretError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_app_secret(
    tx: &mut dyn AppSecretTx,
    ctx: &Context,
    admin: &AppAdmin,
    name: &AppSecretName,
) -> Result<(), AppSecretError> {
    let (workspace, app) = (admin.member().workspace(), admin.app());
    let stored = tx.app_secrets_for_update(workspace, app).await?.ok_or(AppSecretError::AppNotFound)?;
    if !stored.iter().any(|secret| secret.name == *name) {
        return Err(AppSecretError::NotFound);
    }
    tx.delete_app_secret(workspace, app, name).await?;
    let entry = ctx.audit_entry("secret.delete").workspace(workspace).app(app).target(app);
    tx.audit(entry.detail(json!({ "name": name.as_str() })));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app_secrets::{AppSecretInput, put_app_secret},
        testing::{FakeStore, app_admin, request, vault},
    };

    #[tokio::test]
    async fn a_deletion_concerns_one_secret_and_is_audited() {
        let (mut tx, ctx) = (FakeStore::default(), request());
        let admin = app_admin(&ctx);
        for name in ["A", "B"] {
            let (value, hosts) = ("s3cret-of-the-app".into(), Vec::new());
            let input = AppSecretInput { name: name.to_owned(), value, hosts, clear: false };
            put_app_secret(&mut tx, &ctx, &admin, &vault(), &input).await.unwrap();
        }
        let name = "A".parse().unwrap();
        delete_app_secret(&mut tx, &ctx, &admin, &name).await.unwrap();
        let left: Vec<_> = tx.app_secrets.iter().map(|stored| stored.secret.name.as_str()).collect();
        assert_eq!(left, ["B"]);
        assert_eq!(tx.work.audited_actions(), ["secret.set", "secret.set", "secret.delete"]);
        let again = delete_app_secret(&mut tx, &ctx, &admin, &name).await;
        assert!(matches!(again, Err(AppSecretError::NotFound)));
    }
}
