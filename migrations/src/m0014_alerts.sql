-- How many runs of an app have failed since one succeeded; apps whose last run succeeded have no row.
CREATE TABLE app_failures (
    app_id $uuid NOT NULL PRIMARY KEY,
    in_a_row bigint NOT NULL
) $clustered;
