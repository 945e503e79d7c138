-- Agent clients, their authorization requests, and grants.
--
-- Clients that registered themselves. Those without a grant are deleted after seven days.
CREATE TABLE oauth_clients (
    id $uuid NOT NULL PRIMARY KEY,
    -- Id as the client sends it; grants refer to it.
    client_id text NOT NULL UNIQUE,
    name text NOT NULL,
    redirects text NOT NULL,
    homepage_host text,
    created_at bigint NOT NULL
) $clustered;
CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at);

-- Authorization requests, with the facts on which the decision rests as they were then. A row is kept for a day after
-- its code expired, so that a repeated use of the code is noticed.
CREATE TABLE oauth_authorizations (
    id $uuid NOT NULL PRIMARY KEY,
    client_id text NOT NULL,
    client_kind text NOT NULL,
    client_name text NOT NULL,
    client_host text,
    homepage_host text,
    redirect text NOT NULL,
    state text,
    challenge $bytes NOT NULL,
    audience text NOT NULL,
    requested text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- waiting, seen, denied, allowed, redeemed; each stage sets more of the columns below.
    stage text NOT NULL,
    user_id $uuid REFERENCES users (id),
    workspace_id $uuid REFERENCES workspaces (id),
    access text,
    code_until bigint,
    code_digest $bytes UNIQUE,
    grant_id $uuid
) $clustered;
CREATE INDEX oauth_authorizations_by_expiry ON oauth_authorizations (expires_at);

CREATE TABLE oauth_grants (
    id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    user_id $uuid NOT NULL REFERENCES users (id),
    client_id text NOT NULL,
    client_kind text NOT NULL,
    client_name text NOT NULL,
    client_host text,
    access text NOT NULL,
    audience text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    expires_at bigint NOT NULL,
    revoked_at bigint
) $clustered;
CREATE INDEX oauth_grants_by_owner ON oauth_grants (workspace_id, user_id, id);
CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id);

CREATE TABLE oauth_access_tokens (
    id $uuid NOT NULL PRIMARY KEY,
    digest $bytes NOT NULL UNIQUE,
    grant_id $uuid NOT NULL REFERENCES oauth_grants (id),
    workspace_id $uuid NOT NULL,
    access text NOT NULL,
    prefix text NOT NULL,
    last4 text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
) $clustered;
CREATE INDEX oauth_access_tokens_by_grant ON oauth_access_tokens (grant_id);
CREATE INDEX oauth_access_tokens_by_expiry ON oauth_access_tokens (expires_at);

CREATE TABLE oauth_refresh_tokens (
    id $uuid NOT NULL PRIMARY KEY,
    digest $bytes NOT NULL UNIQUE,
    grant_id $uuid NOT NULL REFERENCES oauth_grants (id),
    workspace_id $uuid NOT NULL,
    generation bigint NOT NULL,
    created_at bigint NOT NULL,
    spent_at bigint
) $clustered;
-- Each grant has one token that is not spent.
CREATE UNIQUE INDEX oauth_refresh_tokens_newest ON oauth_refresh_tokens (grant_id) WHERE spent_at IS NULL;
CREATE INDEX oauth_refresh_tokens_by_spending ON oauth_refresh_tokens (spent_at);
