-- Agents that asked for runs, and lookups in the audit log.
--
-- The grant of the agent that asked for a run; null of runs from before, of which `asked_by_agent` alone is known.
ALTER TABLE runs ADD COLUMN asked_by_grant $uuid;

CREATE INDEX audit_log_by_target ON audit_log (workspace_id, target, id);
