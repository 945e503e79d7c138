-- Effects of planned changes outside of versions, and apps of imports in review.
--
-- What approved plans did outside of versions, as JSON, so that a rollback can undo it or name it.
CREATE TABLE app_change_effects (
    change_id $uuid PRIMARY KEY,
    workspace_id $uuid NOT NULL,
    app_id $uuid NOT NULL REFERENCES apps (id),
    version_number bigint NOT NULL,
    at bigint NOT NULL,
    effects text NOT NULL
);
CREATE INDEX app_change_effects_by_app ON app_change_effects (app_id, version_number);

-- True while the app belongs to an import that nobody has turned on.
ALTER TABLE apps ADD COLUMN in_review boolean NOT NULL DEFAULT FALSE;
UPDATE apps SET in_review = TRUE WHERE id IN (SELECT app_id FROM imports WHERE status = 'review' AND app_id IS NOT NULL);

-- Automations that were deleted before imports were told of it.
UPDATE imports SET automation_id = NULL WHERE automation_id IS NOT NULL AND automation_id NOT IN (SELECT id FROM automations);
