//! Listing the connections of a workspace.

use std::time::Duration;

use kernel::{Context, StoreError, authority::Member, id::ConnectionId, page::PageRequest};

use super::ConnectionReader;
use crate::connection::ConnectionView;

/// Time in which calls are counted.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lists the connections of the member's workspace by id, with the calls of the last 24 hours; up to one more than the
/// limit.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn list_connections(
    reader: &dyn ConnectionReader,
    ctx: &Context,
    member: &Member,
    page: PageRequest,
) -> Result<Vec<ConnectionView>, StoreError> {
    reader.list_connections(member.workspace(), ctx.now - DAY, page).await
}

/// Returns a connection of the member's workspace, with the calls of the last 24 hours.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn view_connection(
    reader: &dyn ConnectionReader,
    ctx: &Context,
    member: &Member,
    connection: ConnectionId,
) -> Result<Option<ConnectionView>, StoreError> {
    reader.view_connection(member.workspace(), connection, ctx.now - DAY).await
}

#[cfg(test)]
mod tests {
    use kernel::{
        authority::Role,
        testing::{id, member},
    };

    use super::*;
    use crate::{
        connection::Connection,
        testing::{FakeStore, http_connection, request, workspace},
    };

    #[tokio::test]
    async fn a_member_sees_the_connections_of_their_workspace_only() {
        let own = |number| http_connection(number, "https://a.example");
        let foreign = Connection { workspace: id(9), ..own(2) };
        let tx = FakeStore { connections: vec![own(3), foreign, own(1)], ..FakeStore::default() };
        let ctx = request();
        let member = member(&ctx, workspace(), Role::Viewer);
        let page = PageRequest { limit: 50, after: None };
        let listed = list_connections(&tx, &ctx, &member, page).await.unwrap();
        assert_eq!(listed.iter().map(|view| view.connection.id).collect::<Vec<_>>(), [id(1), id(3)]);
        assert!(view_connection(&tx, &ctx, &member, id(1)).await.unwrap().is_some());
        assert!(view_connection(&tx, &ctx, &member, id(2)).await.unwrap().is_none());
    }
}
