-- By what a delivery's signature is known. SQLite alone: on PostgreSQL, where several nodes accept calls, signatures stay
-- among the keys.
ALTER TABLE deliveries ADD COLUMN signature $bytes;

-- The signatures of calls that only repeated an earlier one and have no delivery of their own.
CREATE TABLE repeat_signatures (
    expires_at bigint NOT NULL,
    webhook_id $uuid NOT NULL,
    signature $bytes NOT NULL,
    PRIMARY KEY (expires_at, webhook_id, signature)
) $clustered;
