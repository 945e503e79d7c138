-- The outbox of e-mail, and the links of sign-ins.
--
-- E-mails to send, with sealed content. A row is deleted when its e-mail was accepted or given up.
CREATE TABLE outbox (
    id $uuid NOT NULL PRIMARY KEY,
    kind text NOT NULL,
    sealed text NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    give_up_at bigint NOT NULL,
    attempts integer NOT NULL
);
CREATE INDEX outbox_by_due ON outbox (due_at, id);

-- Digest of a sign-in's link, which works like its code.
ALTER TABLE sign_ins ADD COLUMN link_digest $bytes;
CREATE UNIQUE INDEX sign_ins_by_link ON sign_ins (link_digest);
