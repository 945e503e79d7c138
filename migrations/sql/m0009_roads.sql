-- Public forms, dead letters, and occurrences of schedules.
--
-- Fields of a public form, as JSON.
ALTER TABLE webhooks ADD COLUMN form text;

-- Time at which a run is due, if it is not when the run was accepted.
ALTER TABLE runs ADD COLUMN scheduled_for bigint;

-- Failed runs and refused calls, kept for replay. The id is that of the run or call. The payload of a run is its input;
-- that of a call is stored here. A call that is repeated while its dead letter is open increments `attempt`.
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

-- Policy of a schedule for missed occurrences and overlapping runs.
ALTER TABLE automations ADD COLUMN catch_up text;
ALTER TABLE automations ADD COLUMN catch_up_minutes bigint;
ALTER TABLE automations ADD COLUMN overlap text;

-- One row for each occurrence of a schedule, with its outcome.
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

-- Claims alternate between the workspaces with ready runs: the next workspace is one seek in this index, however many
-- runs the previous one has queued. `state` is included only so that SQLite reads nothing but the index.
CREATE INDEX run_queue_turns ON run_queue (workspace_id, available_at, run_id, state) WHERE state = 0;
DROP INDEX run_queue_ready;
