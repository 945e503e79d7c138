-- A signature's digest begins with the seconds since 1970 as eight bytes, so its first four bytes are zero. Any other digest
-- begins so once in 2^32.
INSERT INTO repeat_signatures (expires_at, webhook_id, signature)
SELECT expires_at, webhook_id, substr(digest, 1, 16) FROM webhook_keys WHERE substr(digest, 1, 4) = X'00000000';
DELETE FROM webhook_keys WHERE substr(digest, 1, 4) = X'00000000';
