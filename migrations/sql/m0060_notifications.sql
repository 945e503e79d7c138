-- Notifications.
--
-- What people of a workspace are told: one row for the first alert about an object within an hour, with the number of its event;
-- `repeats` counts those that followed. `hour` is in hours since 1970. `plan_due_at` is set until the deliveries of the other channels
-- are planned. No column refers to another table: the group commit writes these rows.
CREATE TABLE notifications (
    workspace_id $uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    subject_id $uuid NOT NULL,
    app_id $uuid,
    run_id $uuid,
    code text NOT NULL,
    hour bigint NOT NULL,
    repeats bigint NOT NULL,
    plan_due_at bigint,
    PRIMARY KEY (workspace_id, seq)
) $clustered;
CREATE UNIQUE INDEX notifications_by_hour ON notifications (workspace_id, hour, subject_id, kind);
CREATE INDEX notifications_to_plan ON notifications (plan_due_at) WHERE plan_due_at IS NOT NULL;
CREATE INDEX notifications_by_time ON notifications (at);

-- One row for each person that a channel reaches, or one without a person for a channel that reaches nobody. `due_at` is set while it
-- is pending.
CREATE TABLE notification_deliveries (
    id $uuid PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    seq bigint NOT NULL,
    channel text NOT NULL,
    user_id $uuid,
    state text NOT NULL,
    reason text,
    attempts integer NOT NULL,
    due_at bigint,
    expires_at bigint NOT NULL
);
CREATE INDEX notification_deliveries_by_notification ON notification_deliveries (workspace_id, seq);
CREATE INDEX notification_deliveries_waiting ON notification_deliveries (workspace_id) WHERE due_at IS NOT NULL;
CREATE INDEX notification_deliveries_due ON notification_deliveries (due_at) WHERE due_at IS NOT NULL;

-- What a person chose in a workspace. `read_to` is the number up to which they have seen notifications.
CREATE TABLE notification_settings (
    workspace_id $uuid NOT NULL,
    user_id $uuid NOT NULL,
    email boolean NOT NULL,
    read_to bigint NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) $clustered;
