-- Invalidations of the caller cache for other nodes.
--
-- Entries of the caller cache that other nodes must invalidate. A row is read within a second and deleted soon after.
CREATE TABLE caller_changes (
    id $serial,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    subject $uuid NOT NULL,
    beside $uuid
);
CREATE INDEX caller_changes_by_moment ON caller_changes (at);
