-- Indexes for the pages of lists.
--
-- Pages of lists that were read as a whole: each is in the order of its index.
CREATE INDEX gates_by_workspace ON gates (workspace_id, id);
CREATE INDEX members_by_rank ON members (workspace_id, role, joined_at, user_id);
CREATE INDEX members_by_user_and_workspace ON members (user_id, workspace_id);
