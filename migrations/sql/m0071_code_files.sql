-- Files of versions and drafts that are stored once, and the bytes of a workspace's stored code.
--
-- Files of versions and drafts. The same text is stored once in a workspace, and never shared between two.
CREATE TABLE code_files (
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    digest $bytes NOT NULL,
    size bigint NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (workspace_id, digest)
);
-- Which files a version or a draft has. `owner_id` is the version's id, or the digest of the draft's key. Rows are written and
-- deleted while the workspace's row of `workspace_code` is locked.
CREATE TABLE code_refs (
    owner_id $uuid NOT NULL,
    path text NOT NULL,
    workspace_id $uuid NOT NULL,
    digest $bytes NOT NULL,
    PRIMARY KEY (owner_id, path)
) $clustered;
CREATE INDEX code_refs_by_file ON code_refs (workspace_id, digest);
-- Bytes of a workspace's stored code, kept in the transactions that change it.
CREATE TABLE workspace_code (
    workspace_id $uuid NOT NULL PRIMARY KEY,
    bytes bigint NOT NULL
) $clustered;
-- Apps whose older versions may have files that nothing needs, and when to look.
CREATE TABLE code_prunes (
    app_id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    due_at bigint NOT NULL
) $clustered;
CREATE INDEX code_prunes_by_time ON code_prunes (due_at);

-- Bytes that a row counts for beside its files. Null: not counted yet, and the files of a version are in the row.
ALTER TABLE app_versions ADD COLUMN stored_bytes bigint;
ALTER TABLE app_versions ADD COLUMN files_deleted_at bigint;
ALTER TABLE imports ADD COLUMN stored_bytes bigint;
CREATE INDEX app_versions_uncounted ON app_versions (id) WHERE stored_bytes IS NULL;
CREATE INDEX app_versions_with_files ON app_versions (app_id, number) WHERE files_deleted_at IS NULL;
CREATE INDEX imports_uncounted ON imports (id) WHERE stored_bytes IS NULL;

-- Programs that do not know these tables cannot read versions that are stored in them. Where some may still be running, the tables
-- are not used before this time, and the migration's name is added to the list then.
ALTER TABLE installation ADD COLUMN code_files_from bigint;
INSERT INTO breaking_migrations (version)
    SELECT 'm0071_code_files' WHERE NOT EXISTS (SELECT 1 FROM workspaces);
