-- Counts of failures, for alerts about automations.
--
-- Number of runs of an automation that failed in a row; automations whose last run succeeded have no row.
CREATE TABLE automation_failures (
    automation_id $uuid NOT NULL PRIMARY KEY,
    in_a_row bigint NOT NULL
) $clustered;
