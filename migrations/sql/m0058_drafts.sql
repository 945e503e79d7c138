-- Drafts of apps.
--
-- Code that people try before it is a version: one draft a person and app.
CREATE TABLE app_drafts (
    app_id $uuid NOT NULL REFERENCES apps (id),
    owner_id $uuid NOT NULL,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    base_version_id $uuid,
    files text NOT NULL,
    saved_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (app_id, owner_id)
);
CREATE INDEX app_drafts_by_expiry ON app_drafts (expires_at);
