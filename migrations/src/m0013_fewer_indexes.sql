-- Each of these costs every run a few writes.
-- A delivery's id has the moment in it at which it was received.
DROP INDEX deliveries_by_age;

-- What is ready is found by `run_queue_turns`, what is leased is no more than nodes are at work at: left is what waits.
DROP INDEX run_queue_by_workspace;
CREATE INDEX run_queue_waiting ON run_queue (workspace_id, state, run_id) WHERE state >= 2;
