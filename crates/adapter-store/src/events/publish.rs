//! Events about what is stored elsewhere.

use ::observability::feed::EventSink;
use async_trait::async_trait;
use kernel::{StoreError, UnitOfWork as _, events::Event};

use crate::store::Store;

#[span_macros::traced]
#[async_trait]
impl EventSink for Store {
    async fn publish_events(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        events.into_iter().for_each(|event| tx.publish(event));
        tx.commit_unaudited().await
    }
}
