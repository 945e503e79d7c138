-- Signature that identifies a delivery, on SQLite only: on PostgreSQL, where several nodes accept calls, signatures are
-- stored among the keys.
ALTER TABLE deliveries ADD COLUMN signature $bytes;

-- Signatures of calls that only repeated an earlier one and have no delivery of their own.
CREATE TABLE repeat_signatures (
    expires_at bigint NOT NULL,
    webhook_id $uuid NOT NULL,
    signature $bytes NOT NULL,
    PRIMARY KEY (expires_at, webhook_id, signature)
) $clustered;
