-- What a person is shown before an app is changed. Nothing is built of it until it is approved; `plan` is JSON.
CREATE TABLE app_changes (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    owner_id $uuid NOT NULL,
    run_id $uuid,
    plan text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX app_changes_by_expiry ON app_changes (expires_at);

-- Questions of runs to people. A run asks the question of one number once, and each has one answer; the answers so far
-- stand with the run, as JSON, since whoever claims it needs them all.
CREATE TABLE approvals (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    run_id $uuid NOT NULL,
    number bigint NOT NULL,
    title text NOT NULL,
    detail text,
    state text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_at bigint,
    decided_by $uuid
) $clustered;
CREATE UNIQUE INDEX approvals_by_run ON approvals (run_id, number);
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 'waiting';
CREATE INDEX approvals_by_age ON approvals (created_at);
ALTER TABLE runs ADD COLUMN answers text;

-- Automations that wait for something to happen: few, and asked for with every end of a run.
CREATE INDEX automations_by_event ON automations (workspace_id, id) WHERE trigger_kind = 'event' AND status = 'active';

-- Whether an app's current manifest declares a form; one that declares a webhook takes forms too.
ALTER TABLE apps ADD COLUMN declares_form boolean NOT NULL DEFAULT false;
