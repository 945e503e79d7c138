-- Invites, join domains, and departures from workspaces.
--
-- An address has at most one pending invite to a workspace; an expired one still counts as pending.
CREATE TABLE invites (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    email text NOT NULL,
    role text NOT NULL,
    digest $bytes NOT NULL UNIQUE,
    invited_by $uuid NOT NULL,
    created_at bigint NOT NULL,
    days bigint NOT NULL,
    expires_at bigint NOT NULL,
    access_ends_at bigint,
    state text NOT NULL,
    settled_at bigint,
    accepted_by $uuid
) $clustered;
CREATE INDEX invites_by_workspace ON invites (workspace_id, id);
CREATE INDEX invites_by_expiry ON invites (expires_at);
CREATE UNIQUE INDEX invites_pending ON invites (workspace_id, email) WHERE state = 'pending';

-- How a person left, so that nothing adds them again without being asked to.
CREATE TABLE departures (
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    user_id $uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) $clustered;

-- Any number of workspaces may claim a domain; only one has verified it.
CREATE TABLE join_domains (
    workspace_id $uuid NOT NULL PRIMARY KEY REFERENCES workspaces (id),
    domain text NOT NULL,
    proof text NOT NULL,
    auto_join boolean NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL,
    verified_at bigint,
    recheck_at bigint,
    misses bigint NOT NULL
) $clustered;
CREATE UNIQUE INDEX join_domains_verified ON join_domains (domain) WHERE verified_at IS NOT NULL;
CREATE INDEX join_domains_due ON join_domains (recheck_at) WHERE verified_at IS NOT NULL;

CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, id);
