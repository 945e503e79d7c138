-- The state of the installation: the check of its master key, the pause, and the programs that may run on it.
--
-- One row. `key_check` is a text sealed under the master key: a key that does not open it is not this installation's.
-- `paused` is true if nodes start no work. `probe` is written to check that writes succeed.
CREATE TABLE installation (
    id integer NOT NULL PRIMARY KEY CHECK (id = 1),
    key_check text,
    paused boolean NOT NULL,
    probe text NOT NULL
);
INSERT INTO installation (id, key_check, paused, probe) VALUES (1, NULL, false, '');

-- Migrations that a program must know to run on this schema. All others only add, and programs that do not know them
-- can run. A migration that removes or changes what older programs use writes its own name here.
CREATE TABLE breaking_migrations (
    version text NOT NULL PRIMARY KEY
);

-- Peppers of rotated master keys, sealed under the newest key: digests made with them are still verified.
CREATE TABLE retired_peppers (
    key_id text NOT NULL PRIMARY KEY,
    sealed text NOT NULL
);
