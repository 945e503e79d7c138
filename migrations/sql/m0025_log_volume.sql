-- Bytes of log that visits to an app leave in a day.
--
-- Bytes of log that visits to an app left in a day; `day` is the time at which the day began, in UTC.
CREATE TABLE app_log_volume (
    app_id $uuid NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    day bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (app_id, day)
) $clustered;
