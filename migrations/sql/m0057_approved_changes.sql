-- Outcomes of planned changes, and the instructions of versions.
--
-- What became of a planned change: the version that it led to, or why it failed. Both are null until it is approved.
ALTER TABLE app_changes ADD COLUMN version_id $uuid;
ALTER TABLE app_changes ADD COLUMN failure text;

-- The instruction that a version was built from, and what built it; null for other versions.
ALTER TABLE app_versions ADD COLUMN instruction text;
ALTER TABLE app_versions ADD COLUMN builder text;
