-- Counts of failures, for alerts about apps.
--
-- Number of runs of an app that failed in a row; apps whose last run succeeded have no row.
CREATE TABLE app_failures (
    app_id $uuid NOT NULL PRIMARY KEY,
    in_a_row bigint NOT NULL
) $clustered;
