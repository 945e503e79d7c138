-- An index of held runs.
--
-- Held runs are looked for every few seconds, among any number of runs that wait for another reason.
CREATE INDEX run_queue_held ON run_queue (workspace_id, run_id) WHERE state = 3;
