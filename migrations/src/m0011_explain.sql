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

-- Automations that wait for something to happen: few, and asked for with every end of a run.
CREATE INDEX automations_by_event ON automations (workspace_id, id) WHERE trigger_kind = 'event' AND status = 'active';

-- Whether an app's current manifest declares a form; one that declares a webhook takes forms too.
ALTER TABLE apps ADD COLUMN declares_form boolean NOT NULL DEFAULT false;
