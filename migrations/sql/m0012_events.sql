-- Events of each workspace, in one order.
--
-- Last number of each workspace's sequence. Writers take numbers at the end of their transaction, and the row stays
-- locked until the commit, so readers see the numbers in order and without gaps.
CREATE TABLE workspace_feeds (
    workspace_id $uuid NOT NULL PRIMARY KEY,
    seq bigint NOT NULL
) $clustered;

-- Events. Names are looked up when an event is read.
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

-- True if a token or an agent started the run.
ALTER TABLE runs ADD COLUMN asked_by_agent boolean;

-- Event that reports the line.
ALTER TABLE log_lines ADD COLUMN event_seq bigint;
CREATE INDEX log_lines_of_answers ON log_lines (app_id, event_seq) WHERE run_id IS NULL AND event_seq IS NOT NULL;
