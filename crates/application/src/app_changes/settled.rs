//! Planned changes as they are read: a settled one names only what is still to be done.

use apps::changes::Change;
use connections::GateStatus;

use crate::{Application, Problem};

impl Application {
    /// Leaves out of a settled plan the steps that are done; an open plan stays as it is.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn with_remaining_steps(&self, mut change: Change) -> Result<Change, Problem> {
        if change.outcome.is_some() {
            let gates = self.store().gates(change.workspace).await?;
            let is_open = |host: &str| {
                let mut of_host =
                    gates.iter().filter(|gate| gate.connection.is_none() && gate.host.to_string() == host);
                of_host.any(|gate| gate.status == GateStatus::Open)
            };
            change.settle_steps(is_open);
        }
        Ok(change)
    }
}
