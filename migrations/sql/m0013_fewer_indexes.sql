-- Drops indexes that runs do not need.
--
-- Each of these indexes costs every run a few writes.
-- The id of a delivery contains the time at which it was received.
DROP INDEX deliveries_by_age;

-- `run_queue_turns` finds ready runs, and leased runs are at most as many as execute: only held-back runs need an
-- index.
DROP INDEX run_queue_by_workspace;
CREATE INDEX run_queue_waiting ON run_queue (workspace_id, state, run_id) WHERE state >= 2;
