-- Imports of workflows.
--
-- Workflows of other tools that became apps, and what a person decided about them. `report` and `needs` are JSON; the export itself
-- is not kept.
CREATE TABLE imports (
    id $uuid PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    name text NOT NULL,
    format text NOT NULL,
    status text NOT NULL,
    app_id $uuid,
    automation_id $uuid,
    report text NOT NULL,
    needs text NOT NULL,
    created_by $uuid NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL
);
CREATE INDEX imports_by_workspace ON imports (workspace_id, id);
CREATE INDEX imports_by_app ON imports (app_id);
CREATE INDEX imports_by_change ON imports (status, changed_at);
