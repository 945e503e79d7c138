-- Details of sessions, device logins, passkeys, and identities at other issuers.
--
-- Details of a session that its owner sees. Sessions from before this migration have none; their creation time is used.
ALTER TABLE sessions ADD COLUMN last_seen_at bigint;
ALTER TABLE sessions ADD COLUMN address text;
ALTER TABLE sessions ADD COLUMN device text;
ALTER TABLE sessions ADD COLUMN method text;
ALTER TABLE sessions ADD COLUMN auth_at bigint;
-- Time at which a passkey last verified the person in this session.
ALTER TABLE sessions ADD COLUMN stepped_up_at bigint;

-- `network` is the unit by which open device logins are counted: an IPv4 address, or the /64 of an IPv6 address.
CREATE TABLE device_logins (
    id $uuid NOT NULL PRIMARY KEY,
    device_digest $bytes NOT NULL UNIQUE,
    user_digest $bytes NOT NULL UNIQUE,
    client text NOT NULL,
    purpose text NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    expires_in_days bigint NOT NULL,
    host text,
    address text,
    network text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    state text NOT NULL,
    approved_by $uuid REFERENCES users (id),
    approved_workspace_id $uuid REFERENCES workspaces (id),
    approved_scopes text,
    approved_days bigint,
    interval_seconds bigint NOT NULL,
    last_poll_at bigint
) $clustered;
CREATE INDEX device_logins_by_expiry ON device_logins (expires_at);

CREATE TABLE passkeys (
    id $uuid NOT NULL PRIMARY KEY,
    user_id $uuid NOT NULL REFERENCES users (id),
    credential_id $bytes NOT NULL UNIQUE,
    name text NOT NULL,
    credential text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
) $clustered;
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE passkey_ceremonies (
    id $uuid NOT NULL PRIMARY KEY,
    kind text NOT NULL,
    session_id $uuid,
    state text NOT NULL,
    expires_at bigint NOT NULL
) $clustered;
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_at);

CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id $uuid NOT NULL REFERENCES users (id),
    created_at bigint NOT NULL,
    PRIMARY KEY (issuer, subject)
) $clustered;
CREATE INDEX identities_by_user ON identities (user_id);
