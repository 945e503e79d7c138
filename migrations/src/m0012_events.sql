-- How far each workspace's sequence has come. Whoever writes events takes their numbers last in its transaction: the
-- row stays locked until the commit, so numbers are seen in their order and none is left out.
CREATE TABLE workspace_feeds (
    workspace_id $uuid NOT NULL PRIMARY KEY,
    seq bigint NOT NULL
) $clustered;

-- What happened. Names are looked up when it is read.
CREATE TABLE workspace_events (
    workspace_id $uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    app_id $uuid NOT NULL,
    run_id $uuid,
    code text,
    data text,
    PRIMARY KEY (workspace_id, seq)
) $clustered;

-- Whether a token or an agent asked for the run.
ALTER TABLE runs ADD COLUMN asked_by_agent boolean;

-- The event that tells of a line.
ALTER TABLE log_lines ADD COLUMN event_seq bigint;
CREATE INDEX log_lines_of_answers ON log_lines (app_id, event_seq) WHERE run_id IS NULL AND event_seq IS NOT NULL;
