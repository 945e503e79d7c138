-- Adds the person who cancelled a run.
--
-- The person who cancelled a run; NULL for a run that nobody cancelled.
ALTER TABLE runs ADD COLUMN cancelled_by $uuid;
