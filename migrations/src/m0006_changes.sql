-- What nodes must forget of what they remember about callers. A row is read within a second and swept soon after.
CREATE TABLE caller_changes (
    id $serial,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    subject $uuid NOT NULL,
    beside $uuid
);
CREATE INDEX caller_changes_by_moment ON caller_changes (at);
