-- Several connections may share a host, and each is its own gate: only gates without a connection are unique by host.
ALTER TABLE gates DROP CONSTRAINT gates_workspace_id_host_key;
