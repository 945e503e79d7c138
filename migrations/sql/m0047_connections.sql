-- Connections with their sealed secrets, and counts of requests by gate.
CREATE UNIQUE INDEX gates_by_host ON gates (workspace_id, host) WHERE connection_id IS NULL;
CREATE UNIQUE INDEX gates_by_connection ON gates (connection_id) WHERE connection_id IS NOT NULL;

-- `http` is where requests go and how they prove themselves, `field_values` what was typed into the catalogue's form; both JSON.
-- `status_since` is set unless it is connected.
CREATE TABLE connections (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    connector text NOT NULL,
    display_name text NOT NULL,
    status text NOT NULL,
    status_since bigint,
    auth_failures bigint NOT NULL,
    connected_at bigint,
    key_id text,
    secret_version bigint NOT NULL,
    http text NOT NULL,
    field_values text NOT NULL,
    service_account text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    revision bigint NOT NULL
) $clustered;
CREATE INDEX connections_by_workspace ON connections (workspace_id, id);

-- A table of its own: the secret is read for a request only, and its row is deleted when the service is disconnected.
CREATE TABLE connection_secrets (
    connection_id $uuid NOT NULL REFERENCES connections (id),
    purpose text NOT NULL,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    sealed text NOT NULL,
    PRIMARY KEY (connection_id, purpose)
) $clustered;

-- Requests in five minutes; `bucket` is the number of the five minutes since 1970.
CREATE TABLE gate_calls (
    gate_id $uuid NOT NULL,
    bucket bigint NOT NULL,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    blocked bigint NOT NULL,
    last_call_at bigint,
    PRIMARY KEY (gate_id, bucket)
) $clustered;
CREATE INDEX gate_calls_by_bucket ON gate_calls (bucket);
