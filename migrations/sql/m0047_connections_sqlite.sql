-- Several connections may share a host, and each is its own gate: only gates without a connection are unique by host.
CREATE TABLE gates_of_connections (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    name text NOT NULL,
    host text NOT NULL,
    methods text NOT NULL,
    connection_id $uuid,
    status text NOT NULL,
    created_at bigint NOT NULL
) $clustered;
INSERT INTO gates_of_connections (id, workspace_id, name, host, methods, connection_id, status, created_at)
    SELECT id, workspace_id, name, host, methods, connection_id, status, created_at FROM gates;
DROP TABLE gates;
ALTER TABLE gates_of_connections RENAME TO gates;
CREATE INDEX gates_by_workspace ON gates (workspace_id, id);
