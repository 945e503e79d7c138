-- Metrics of apps.
--
-- `resolution` is the length of the interval in minutes, `at` its start; durations are encoded histograms. Each process writes rows of
-- its own. No column refers to another table: a row of an app that was purged meanwhile cannot hold up those that are written with it.
CREATE TABLE app_metrics (
    app_id $uuid NOT NULL,
    resolution smallint NOT NULL,
    at bigint NOT NULL,
    node_id $uuid NOT NULL,
    workspace_id $uuid NOT NULL,
    requests bigint NOT NULL,
    failed_requests bigint NOT NULL,
    runs bigint NOT NULL,
    failed_runs bigint NOT NULL,
    retried_attempts bigint NOT NULL,
    request_cpu_micros bigint NOT NULL,
    run_cpu_micros bigint NOT NULL,
    request_durations $bytes NOT NULL,
    run_durations $bytes NOT NULL,
    PRIMARY KEY (app_id, resolution, at, node_id)
) $clustered;
CREATE INDEX app_metrics_by_time ON app_metrics (resolution, at);
