-- What a public form asks of those who send it, as JSON.
ALTER TABLE webhooks ADD COLUMN form text;

-- When a run is meant to start, where that is not when it was accepted.
ALTER TABLE runs ADD COLUMN scheduled_for bigint;

-- Failed runs and refused calls, kept for replay. The id is the run's or the call's. A run's payload is its input; a
-- call's is kept here. A call that comes again while it is open adds to `attempt`.
CREATE TABLE dead_letters (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    automation_id $uuid,
    kind text NOT NULL,
    state text NOT NULL,
    trigger_kind text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    run_id $uuid,
    delivery_id $uuid,
    call_digest $bytes,
    version_id $uuid,
    attempt bigint NOT NULL,
    payload text,
    payload_bytes bigint NOT NULL,
    created_at bigint NOT NULL,
    settled_at bigint,
    settled_by $uuid,
    replay_run_id $uuid
);
CREATE INDEX dead_letters_by_workspace ON dead_letters (workspace_id, id);
CREATE INDEX dead_letters_open ON dead_letters (workspace_id) WHERE state = 'open';
CREATE INDEX dead_letters_by_automation ON dead_letters (automation_id) WHERE state = 'open' AND kind = 'delivery';
CREATE UNIQUE INDEX dead_letters_by_call ON dead_letters (automation_id, call_digest) WHERE state = 'open' AND call_digest IS NOT NULL;
CREATE INDEX dead_letters_settled ON dead_letters (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX dead_letters_by_age ON dead_letters (created_at);

-- What a schedule does about moments that were missed, and about runs that overlap.
ALTER TABLE automations ADD COLUMN catch_up text;
ALTER TABLE automations ADD COLUMN catch_up_minutes bigint;
ALTER TABLE automations ADD COLUMN overlap text;

-- One row for each moment of a schedule, and what became of it.
CREATE TABLE occurrences (
    id $uuid NOT NULL PRIMARY KEY,
    automation_id $uuid NOT NULL,
    workspace_id $uuid NOT NULL,
    due_at bigint NOT NULL,
    outcome text NOT NULL,
    reason text,
    run_id $uuid,
    recorded_at bigint NOT NULL
) $clustered;
CREATE UNIQUE INDEX occurrences_by_moment ON occurrences (automation_id, due_at);
CREATE INDEX occurrences_by_automation ON occurrences (automation_id, id);
CREATE INDEX occurrences_by_age ON occurrences (recorded_at);

-- Claims go round the workspaces that have ready work: the next one is a step into this index, whatever the first one
-- has queued. The state is in it only so that SQLite reads nothing else.
CREATE INDEX run_queue_turns ON run_queue (workspace_id, available_at, run_id, state) WHERE state = 0;
DROP INDEX run_queue_ready;
