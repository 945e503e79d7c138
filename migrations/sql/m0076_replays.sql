-- The index by which the replays of a run are found.
--
-- Whether a run was replayed. Most runs replay no other, and have no entry.
CREATE INDEX runs_by_replay ON runs (replay_of) WHERE replay_of IS NOT NULL;
