//! Listing the gates of a workspace.

use kernel::{Context, StoreError, authority::Member};

use super::{GateReader, GateView};

/// Lists the gates of the member's workspace by id, with the refusals of the last 24 hours.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn list_gates(
    reader: &dyn GateReader,
    ctx: &Context,
    member: &Member,
) -> Result<Vec<GateView>, StoreError> {
    let day_ago = ctx.now - std::time::Duration::from_secs(24 * 60 * 60);
    reader.list(member.workspace(), day_ago).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        list_gates(store, &ctx, &member(&ctx, workspace(), Role::Viewer)).await.unwrap()
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
