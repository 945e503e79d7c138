-- The first schema.
--
-- Times are milliseconds since 1970 in UTC. Ids are UUIDv7, so that new rows are stored next to each other.
-- Every table of a workspace's objects has the workspace's id, and every query names it.

CREATE TABLE users (
    id $uuid NOT NULL PRIMARY KEY,
    email text NOT NULL UNIQUE,
    name text NOT NULL,
    created_at bigint NOT NULL
) $clustered;

CREATE TABLE sign_ins (
    email text NOT NULL PRIMARY KEY,
    code_digest $bytes NOT NULL,
    tries_left smallint NOT NULL,
    expires_at bigint NOT NULL
) $clustered;
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);

CREATE TABLE sessions (
    id $uuid NOT NULL PRIMARY KEY,
    digest $bytes NOT NULL UNIQUE,
    user_id $uuid NOT NULL REFERENCES users (id),
    workspace_id $uuid,
    dev_login boolean NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
) $clustered;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE workspaces (
    id $uuid NOT NULL PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    profile text NOT NULL,
    team_size text NOT NULL,
    intents text NOT NULL,
    locale text NOT NULL,
    timezone text NOT NULL,
    currency text NOT NULL,
    hourly_cost_minor bigint NOT NULL,
    plan text NOT NULL,
    revision bigint NOT NULL,
    created_at bigint NOT NULL
) $clustered;

CREATE TABLE members (
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    user_id $uuid NOT NULL REFERENCES users (id),
    role text NOT NULL,
    joined_at bigint NOT NULL,
    access_ends_at bigint,
    PRIMARY KEY (workspace_id, user_id)
) $clustered;
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE tokens (
    id $uuid NOT NULL PRIMARY KEY,
    digest $bytes NOT NULL UNIQUE,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    user_id $uuid NOT NULL REFERENCES users (id),
    name text NOT NULL,
    scopes text NOT NULL,
    prefix text NOT NULL,
    last4 text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    expires_at bigint,
    revoked_at bigint
) $clustered;
CREATE INDEX tokens_by_owner ON tokens (workspace_id, user_id, id);

CREATE TABLE audit_log (
    id $uuid NOT NULL PRIMARY KEY,
    at bigint NOT NULL,
    workspace_id $uuid,
    actor text NOT NULL,
    action text NOT NULL,
    target text,
    request_id $uuid NOT NULL,
    address text,
    detail text
) $clustered;
CREATE INDEX audit_log_by_workspace ON audit_log (workspace_id, id);

CREATE TABLE apps (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    description text NOT NULL,
    archetype text NOT NULL,
    category text NOT NULL,
    sharing text NOT NULL,
    paused boolean NOT NULL,
    current_version_id $uuid,
    declares_webhook boolean NOT NULL,
    created_by $uuid NOT NULL,
    created_at bigint NOT NULL,
    deleted_at bigint,
    revision bigint NOT NULL
) $clustered;
CREATE INDEX apps_by_workspace ON apps (workspace_id, id);

-- Rows with large texts are stored outside of the primary key's tree.
CREATE TABLE app_versions (
    id $uuid NOT NULL PRIMARY KEY,
    app_id $uuid NOT NULL REFERENCES apps (id),
    workspace_id $uuid NOT NULL,
    number bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by $uuid NOT NULL,
    bundle_hash text NOT NULL,
    trust_score smallint NOT NULL,
    kind text NOT NULL,
    summary text NOT NULL,
    base_version_id $uuid,
    manifest text NOT NULL,
    files text NOT NULL,
    UNIQUE (app_id, number)
);

CREATE TABLE app_grants (
    app_id $uuid NOT NULL REFERENCES apps (id),
    user_id $uuid NOT NULL REFERENCES users (id),
    rights smallint NOT NULL,
    PRIMARY KEY (app_id, user_id)
) $clustered;
CREATE INDEX app_grants_by_user ON app_grants (user_id);

CREATE TABLE gates (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    name text NOT NULL,
    host text NOT NULL,
    methods text NOT NULL,
    connection_id $uuid,
    status text NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (workspace_id, host)
) $clustered;

CREATE TABLE automations (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    app_id $uuid NOT NULL REFERENCES apps (id),
    name text NOT NULL,
    trigger_kind text NOT NULL,
    cron text,
    timezone text,
    event text,
    status text NOT NULL,
    max_concurrency bigint,
    retries smallint NOT NULL,
    next_run_at bigint,
    created_by $uuid NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL
) $clustered;
CREATE INDEX automations_by_workspace ON automations (workspace_id, id);
CREATE INDEX automations_by_app ON automations (app_id);
CREATE INDEX automations_due ON automations (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE webhooks (
    id $uuid NOT NULL PRIMARY KEY,
    automation_id $uuid NOT NULL UNIQUE REFERENCES automations (id),
    workspace_id $uuid NOT NULL,
    mode text NOT NULL,
    secret_sealed text,
    token_digest $bytes,
    hint text,
    enabled boolean NOT NULL,
    per_minute bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    revision bigint NOT NULL
) $clustered;

CREATE TABLE deliveries (
    id $uuid NOT NULL PRIMARY KEY,
    webhook_id $uuid NOT NULL,
    workspace_id $uuid NOT NULL,
    run_id $uuid,
    refusal text,
    received_at bigint NOT NULL,
    bytes bigint NOT NULL,
    sample boolean NOT NULL
) $clustered;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_by_age ON deliveries (received_at);

-- Digests that identify a call of a webhook: a call with a known digest is a repeat.
CREATE TABLE webhook_keys (
    webhook_id $uuid NOT NULL,
    digest $bytes NOT NULL,
    run_id $uuid NOT NULL,
    delivery_id $uuid NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (webhook_id, digest)
) $clustered;
CREATE INDEX webhook_keys_by_expiry ON webhook_keys (expires_at);

CREATE TABLE runs (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    automation_id $uuid,
    version_id $uuid,
    trigger_kind text NOT NULL,
    status text NOT NULL,
    accepted_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    attempt bigint NOT NULL,
    minutes_saved double precision NOT NULL,
    error_code text,
    error_message text,
    replay_of $uuid,
    steps text
) $clustered;
CREATE INDEX runs_by_workspace ON runs (workspace_id, id);
CREATE INDEX runs_by_app ON runs (app_id, id);
CREATE INDEX runs_by_finish ON runs (workspace_id, finished_at) WHERE finished_at IS NOT NULL;

-- Input of a run; apart from the run, so that lists never read it.
CREATE TABLE run_inputs (
    run_id $uuid NOT NULL PRIMARY KEY,
    input text NOT NULL
);

-- Runs that are still to do: the size depends on the pending work, not on the history.
-- state: 0 ready, 1 leased, 2 held back by its automation's limit.
CREATE TABLE run_queue (
    run_id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    automation_id $uuid,
    state smallint NOT NULL,
    available_at bigint NOT NULL,
    attempt bigint NOT NULL,
    leased_by $uuid,
    leased_until bigint
) $clustered;
CREATE INDEX run_queue_ready ON run_queue (available_at, run_id) WHERE state = 0;
CREATE INDEX run_queue_leased ON run_queue (leased_until) WHERE state = 1;
CREATE INDEX run_queue_by_automation ON run_queue (automation_id, state, run_id);
CREATE INDEX run_queue_by_workspace ON run_queue (workspace_id, state);

CREATE TABLE workspace_usage (
    workspace_id $uuid NOT NULL,
    month text NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (workspace_id, month)
) $clustered;

CREATE TABLE log_lines (
    id $serial,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    run_id $uuid,
    at bigint NOT NULL,
    level smallint NOT NULL,
    source smallint NOT NULL,
    message text NOT NULL
);
CREATE INDEX log_lines_by_app ON log_lines (app_id, id);
CREATE INDEX log_lines_by_run ON log_lines (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX log_lines_by_age ON log_lines (at);
-- Refusals of the gate, few among an app's many lines. Source 2 is the gate, level 2 a warning.
CREATE INDEX log_lines_refused ON log_lines (app_id, at) WHERE source = 2 AND level >= 2;

CREATE TABLE backend_projects (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    name text NOT NULL,
    slug text NOT NULL UNIQUE,
    description text NOT NULL,
    shard bigint NOT NULL,
    settings text NOT NULL,
    created_by $uuid NOT NULL,
    created_at bigint NOT NULL
) $clustered;
CREATE INDEX backend_projects_by_workspace ON backend_projects (workspace_id, id);

CREATE TABLE project_keys (
    id $uuid NOT NULL PRIMARY KEY,
    digest $bytes NOT NULL UNIQUE,
    project_id $uuid NOT NULL REFERENCES backend_projects (id),
    name text NOT NULL,
    kind text NOT NULL,
    scopes text NOT NULL,
    tables text,
    prefix text NOT NULL,
    last4 text NOT NULL,
    created_by $uuid NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    revoked_at bigint
) $clustered;
CREATE INDEX project_keys_by_project ON project_keys (project_id, id);
