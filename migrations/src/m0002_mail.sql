-- Letters that wait to be sent. Their content is sealed; a row goes when its letter was taken or given up.
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

-- A sign-in's link, beside its code.
ALTER TABLE sign_ins ADD COLUMN link_digest $bytes;
CREATE UNIQUE INDEX sign_ins_by_link ON sign_ins (link_digest);
