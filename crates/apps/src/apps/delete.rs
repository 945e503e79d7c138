//! Deleting an app.

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
};

use crate::AppsTx;

/// Deletes an app with its automations; their queued runs fail. Finished runs and logs stay as a record.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_app(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
) -> Result<(), StoreError> {
    let workspace = right.member().workspace();
    tx.delete_app(workspace, right.app(), ctx.now).await?;
    tx.audit(ctx.audit_entry("app.delete").workspace(workspace).target(right.app()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, context, session_of};

    use super::*;
    use crate::testing::{FakeTx, assert_audited, builder_context, builder_id, can_edit, draft};

    #[tokio::test]
    async fn deleting_an_app_leaves_the_others() {
        let (ctx, app, other) = (builder_context(), draft(7), draft(8));
        let mut tx = FakeTx { apps: vec![app.clone(), other.clone()], ..FakeTx::default() };
        delete_app(&mut tx, &ctx, &can_edit(&ctx, &app)).await.unwrap();
        assert_eq!(tx.apps, [other]);
        assert_eq!(tx.deleted.get(&app.id), Some(&ctx.now));
        assert_audited(&tx.work, "app.delete", app.id, None);
        assert!(tx.work.emails.is_empty() && tx.work.events.is_empty());
    }

    #[tokio::test]
    async fn deleting_twice_keeps_the_first_time() {
        let (ctx, app) = (builder_context(), draft(7));
        let mut tx = FakeTx::with_app(&app);
        delete_app(&mut tx, &ctx, &can_edit(&ctx, &app)).await.unwrap();
        let later = context(session_of(builder_id()), at(9_000));
        delete_app(&mut tx, &later, &can_edit(&later, &app)).await.unwrap();
        assert_eq!(tx.deleted.get(&app.id), Some(&ctx.now));
    }
}
