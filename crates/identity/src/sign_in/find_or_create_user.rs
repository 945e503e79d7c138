//! The person who owns a proved address.

use kernel::{Actor, Context};

use crate::{Email, IdentityError, IdentityTx, User, user::resolve_display_name};

/// Returns the person with this address; creates them, named `name` or after the address, if there is none.
///
/// # Errors
/// [`IdentityError::InvalidInput`] if the name of a new person is out of bounds; [`IdentityError::Store`] if the store
/// fails, with [`Duplicate`](kernel::StoreError::Duplicate) if another transaction creates the person at the same time.
pub(crate) async fn find_or_create_user(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    email: &Email,
    name: Option<&str>,
) -> Result<User, IdentityError> {
    if let Some(user) = tx.find_user_by_email(email).await? {
        return Ok(user);
    }
    let user = User {
        id: ctx.new_id(),
        name: resolve_display_name(name, email)?,
        email: email.clone(),
        created_at: ctx.now,
    };
    tx.insert_user(&user).await?;
    tx.audit(ctx.audit_entry("user.create").actor(Actor::Person(user.id)).target(user.id));
    Ok(user)
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};

    use super::*;
    use crate::{
        InvalidInput,
        testing::{FakeStore, aru, bek, visitor},
    };

    #[tokio::test]
    async fn a_newcomer_is_created_once_and_named_after_their_address() {
        let (mut store, ctx) = (FakeStore { users: vec![bek()], ..FakeStore::default() }, visitor());
        let created = find_or_create_user(&mut store, &ctx, &aru().email, None).await.unwrap();
        let found = find_or_create_user(&mut store, &ctx, &aru().email, Some("Other")).await.unwrap();

        assert_eq!((created.name.as_str(), &created.email), ("aru", &aru().email));
        assert_eq!(created.created_at, at(0));
        assert_eq!(found, created);
        assert_eq!(store.users, [bek(), created.clone()]);
        store.assert_audited(&[("user.create", &created.id, &created.id)]);
        store.assert_not_audited(&[aru().email.as_str()]);
    }

    #[tokio::test]
    async fn a_name_out_of_bounds_is_refused() {
        let mut store = FakeStore::default();
        let refused = find_or_create_user(&mut store, &visitor(), &aru().email, Some("")).await;
        assert!(matches!(refused, Err(IdentityError::InvalidInput(InvalidInput::PersonName))));
        assert!(store.users.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn somebody_created_at_the_same_time_is_not_created_twice() {
        let mut store = FakeStore { racing_user: Some(aru()), ..FakeStore::default() };
        let refused = find_or_create_user(&mut store, &visitor(), &aru().email, None).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Duplicate))));
        assert_eq!((&store.users[..], store.work.audit.len()), (&[aru()][..], 0));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let refused = find_or_create_user(&mut store, &visitor(), &aru().email, None).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
