-- Planned changes, approvals, events, and forms as triggers.
--
-- Planned changes of apps, shown to a person first. Nothing is built before approval; `plan` is JSON.
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

-- Questions of runs to people. A run asks each number once, and each has one answer. The answers so far are also stored
-- with the run, as JSON, because a claim needs all of them.
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

-- Automations with an event trigger: few, and queried at the end of every run.
CREATE INDEX automations_by_event ON automations (workspace_id, id) WHERE trigger_kind = 'event' AND status = 'active';

-- True if the app's current manifest declares a form. One that declares a webhook accepts forms too.
ALTER TABLE apps ADD COLUMN declares_form boolean NOT NULL DEFAULT false;
