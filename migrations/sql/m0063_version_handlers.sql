-- Handlers that the code of versions exports.
--
-- Handlers that the code of a version exported when it was checked, as bits: 1 scheduled, 2 fetch. Null in versions of
-- earlier releases.
ALTER TABLE app_versions ADD COLUMN handlers smallint;
