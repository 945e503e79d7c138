-- Events that are about no app, for those who have a role.
--
-- Events without `app_id` are those of changes: older programs skip them. Their audience is who views an app, members
-- with at least a role (0 is the owner, 4 a viewer), or one of them.
CREATE TABLE workspace_events_of_all (
    workspace_id $uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    app_id $uuid,
    run_id $uuid,
    code text,
    data text,
    audience_app_id $uuid,
    audience_role smallint,
    audience_user_id $uuid,
    PRIMARY KEY (workspace_id, seq)
) $clustered;
INSERT INTO workspace_events_of_all (workspace_id, seq, at, kind, app_id, run_id, code, data)
    SELECT workspace_id, seq, at, kind, app_id, run_id, code, data FROM workspace_events;
DROP TABLE workspace_events;
ALTER TABLE workspace_events_of_all RENAME TO workspace_events;
