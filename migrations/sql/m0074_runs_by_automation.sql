-- The index by which the runs of an automation are found.
--
-- The runs of an automation are found among those of its workspace, however many these are.
CREATE INDEX runs_by_automation ON runs (automation_id, id);
