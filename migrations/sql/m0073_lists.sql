-- Open plans of a person, last tests of connections, and refused calls of webhooks.
--
-- Plans that wait for their planner, whoever else plans.
CREATE INDEX app_changes_by_owner ON app_changes (owner_id, workspace_id, expires_at);

-- The last test of a connection, as JSON, with the revision that was tested; null if it was never tested.
ALTER TABLE connections ADD COLUMN last_check text;

-- Calls of a webhook that proved nothing, by minute, in minutes since 1970; kept for a day. `code` is that of the last one.
-- No column refers to another table: the counts are written long after the calls.
CREATE TABLE webhook_refusals (
    webhook_id $uuid NOT NULL,
    minute bigint NOT NULL,
    workspace_id $uuid NOT NULL,
    calls bigint NOT NULL,
    code text NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (webhook_id, minute)
) $clustered;
CREATE INDEX webhook_refusals_by_minute ON webhook_refusals (minute);
CREATE INDEX webhook_refusals_by_workspace ON webhook_refusals (workspace_id);
