-- Requests to the data API of backend projects.
--
-- Requests to the data API: the latest of each project, and their numbers per minute and bucket of duration.
CREATE TABLE project_requests (
    id $serial,
    project_id $uuid NOT NULL,
    at bigint NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    rows_table text,
    status bigint NOT NULL,
    micros bigint NOT NULL,
    key_id $uuid NOT NULL,
    row_count bigint,
    error_code text
);
CREATE INDEX project_requests_by_project ON project_requests (project_id, id);
CREATE INDEX project_requests_by_moment ON project_requests (at);

CREATE TABLE project_minutes (
    project_id $uuid NOT NULL,
    at bigint NOT NULL,
    bucket bigint NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (project_id, at, bucket)
) $clustered;
CREATE INDEX project_minutes_by_moment ON project_minutes (at);
