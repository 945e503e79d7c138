-- Results of runs.
--
-- What the code of a run returned, as JSON; apart from the run, so that lists never read it.
CREATE TABLE run_results (
    run_id $uuid NOT NULL PRIMARY KEY,
    result text NOT NULL
);
