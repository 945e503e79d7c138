-- Tables and columns that the states of apps follow from.
--
-- What the state of an app follows from, by workspace, so that nothing has to be counted over its runs.

ALTER TABLE app_failures ADD COLUMN workspace_id $uuid;
UPDATE app_failures SET workspace_id = (SELECT a.workspace_id FROM apps a WHERE a.id = app_failures.app_id);
CREATE INDEX app_failures_alerting ON app_failures (workspace_id, app_id, in_a_row) WHERE in_a_row >= 3;

ALTER TABLE automation_failures ADD COLUMN workspace_id $uuid;
ALTER TABLE automation_failures ADD COLUMN app_id $uuid;
UPDATE automation_failures SET
    workspace_id = (SELECT a.workspace_id FROM automations a WHERE a.id = automation_failures.automation_id),
    app_id = (SELECT a.app_id FROM automations a WHERE a.id = automation_failures.automation_id);
CREATE INDEX automation_failures_alerting ON automation_failures (workspace_id, app_id, automation_id) WHERE in_a_row >= 3;

-- Blocked runs by app and quarter of an hour, in quarters since 1970; kept for a day. No column refers to another table: the
-- group commit writes these rows.
CREATE TABLE app_blocked_runs (
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL,
    quarter bigint NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (workspace_id, app_id, quarter)
) $clustered;
CREATE INDEX app_blocked_runs_by_time ON app_blocked_runs (quarter);
INSERT INTO app_blocked_runs (workspace_id, app_id, quarter, runs)
    SELECT workspace_id, app_id, finished_at / 900000, count(*) FROM runs
    WHERE status = 'blocked' AND finished_at >= (SELECT max(finished_at) - 86400000 FROM runs)
    GROUP BY workspace_id, app_id, finished_at / 900000;

-- Time of the last run or response of an app that ended well, to the minute; an app of which none is known has no row.
CREATE TABLE app_observations (
    app_id $uuid NOT NULL PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    observed_at bigint NOT NULL
) $clustered;
CREATE INDEX app_observations_by_workspace ON app_observations (workspace_id);
INSERT INTO app_observations (app_id, workspace_id, observed_at)
    SELECT app_id, workspace_id, max(finished_at) FROM runs
    WHERE status = 'succeeded' AND finished_at IS NOT NULL
    GROUP BY app_id, workspace_id;

CREATE INDEX dead_letters_open_by_app ON dead_letters (workspace_id, app_id) WHERE state = 'open';
DROP INDEX dead_letters_open;
CREATE INDEX approvals_waiting_by_app ON approvals (workspace_id, app_id) WHERE state = 'waiting';
