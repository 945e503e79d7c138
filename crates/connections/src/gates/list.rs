//! Listing the gates of a workspace.

use std::time::Duration;

use kernel::{Context, StoreError, authority::Member, id::GateId, page::PageRequest};

use super::{GateReader, GateView};

/// Time in which refusals are counted.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lists the gates of the member's workspace by id, with the refusals of the last 24 hours; up to one more than the limit.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn list_gates(
    reader: &dyn GateReader,
    ctx: &Context,
    member: &Member,
    page: PageRequest,
) -> Result<Vec<GateView>, StoreError> {
    reader.list(member.workspace(), ctx.now - DAY, page).await
}

/// Returns a gate of the member's workspace, with the refusals of the last 24 hours.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn view_gate(
    reader: &dyn GateReader,
    ctx: &Context,
    member: &Member,
    gate: GateId,
) -> Result<Option<GateView>, StoreError> {
    reader.view(member.workspace(), gate, ctx.now - DAY).await
}

#[cfg(test)]
mod tests {
    use kernel::{
        authority::Role,
        testing::{id, member},
    };

    use super::*;
    use crate::{
        gates::Gate,
        testing::{FakeStore, open_gate, request, workspace},
    };

    async fn list(store: &FakeStore) -> Vec<GateView> {
        let ctx = request();
        let page = PageRequest { limit: 50, after: None };
        list_gates(store, &ctx, &member(&ctx, workspace(), Role::Viewer), page).await.unwrap()
    }

    #[tokio::test]
    async fn a_member_sees_the_gates_of_their_workspace() {
        let (first, second) = (open_gate(1, "a.example"), open_gate(2, "b.example"));
        let foreign = Gate { workspace: id(9), ..open_gate(3, "c.example") };
        let store = FakeStore::with_gates([second.clone(), foreign, first.clone()]);
        let gates: Vec<Gate> = list(&store).await.into_iter().map(|view| view.gate).collect();
        assert_eq!(gates, [first, second]);
    }

    #[tokio::test]
    async fn a_gate_is_seen_only_in_its_workspace() {
        let foreign = Gate { workspace: id(9), ..open_gate(3, "c.example") };
        let store = FakeStore::with_gates([open_gate(1, "a.example"), foreign]);
        let (ctx, refused) = (request(), id(3));
        let member = member(&ctx, workspace(), Role::Viewer);
        let found = view_gate(&store, &ctx, &member, id(1)).await.unwrap();
        assert_eq!(found.map(|view| view.gate), Some(open_gate(1, "a.example")));
        assert_eq!(view_gate(&store, &ctx, &member, refused).await.unwrap().map(|view| view.gate), None);
    }

    #[tokio::test]
    async fn refusals_of_the_last_24_hours_are_counted() {
        let day = Duration::from_secs(24 * 60 * 60);
        let now = request().now;
        let refusals = vec![
            (id(1), now),
            (id(1), now - day),
            (id(1), now - day - Duration::from_millis(1)),
            (id(2), now),
        ];
        let store = FakeStore { refusals, ..FakeStore::with_gates([open_gate(1, "a.example")]) };
        assert_eq!(list(&store).await[0].blocked_24h, 2);
    }
}
