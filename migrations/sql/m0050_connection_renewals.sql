-- The reservation of renewals of access tokens, so that one node at a time renews a token.
ALTER TABLE connections ADD COLUMN renewal_until bigint;
