-- Tools of agents.
--
-- Automations that agents start by name.
CREATE TABLE agent_tools (
    id $uuid PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    app_id $uuid NOT NULL REFERENCES apps (id),
    automation_id $uuid NOT NULL REFERENCES automations (id),
    name text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    input_schema text NOT NULL,
    enabled boolean NOT NULL,
    reviewed_hash text NOT NULL,
    reviewed_at bigint NOT NULL,
    reviewed_by $uuid NOT NULL,
    published_at bigint NOT NULL,
    last_called_at bigint
);
CREATE UNIQUE INDEX agent_tools_by_automation ON agent_tools (automation_id);
CREATE UNIQUE INDEX agent_tools_by_name ON agent_tools (workspace_id, name);

-- Calls of a tool by day, in days since 1970 in UTC. The first call of a day deletes days that nobody counts any more.
CREATE TABLE agent_tool_calls (
    tool_id $uuid NOT NULL,
    day bigint NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (tool_id, day)
);

-- What the version may do, as a digest; null for versions that were made before there was one.
ALTER TABLE app_versions ADD COLUMN permissions_hash text;
