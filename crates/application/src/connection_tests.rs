//! Tests of connections, whose results are kept.

use connections::{Connection, connection_test::ConnectionTestResult};
use kernel::StoreError;

use crate::{Application, unit};

impl Application {
    /// Tests a connection, and keeps the result. The request is sent outside of any transaction.
    ///
    /// # Errors
    /// [`StoreError`] if the result cannot be kept.
    pub async fn test_connection(&self, connection: Connection) -> Result<ConnectionTestResult, StoreError> {
        let result = self.connection_tester().test(connection.clone()).await;
        let check = result.kept(&connection, self.now());
        self.transaction(unit!(|tx| {
            tx.set_last_check(connection.workspace, connection.id, &check).await?;
            Ok::<_, StoreError>(())
        }))
        .await?;
        Ok(result)
    }
}
