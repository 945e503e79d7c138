-- Secrets of apps.
--
-- `hosts` are host names with spaces between them. An app has at most 50 secrets, so they are read by the primary key.
CREATE TABLE app_secrets (
    app_id $uuid NOT NULL REFERENCES apps (id),
    name text NOT NULL,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    hosts text NOT NULL,
    clear boolean NOT NULL,
    version bigint NOT NULL,
    set_at bigint NOT NULL,
    set_by $uuid NOT NULL,
    sealed text NOT NULL,
    PRIMARY KEY (app_id, name)
) $clustered;
