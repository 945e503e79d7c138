-- How many bytes of log an app's answers over HTTP have left on a day (UTC), by the moment it began.
CREATE TABLE app_log_volume (
    app_id $uuid NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    day bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (app_id, day)
) $clustered;
