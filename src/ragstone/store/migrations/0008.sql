-- Jobs of a run at the batch API of a judge's provider, as long as their results may be needed. `requests` is a JSON list of
-- keys, `secret` the key of the nonces in their prompts, in hexadecimal. Times are microseconds since 1970; `collected` is 0
-- for a job whose results nobody has read.
CREATE TABLE judge_jobs (
    run TEXT NOT NULL,
    job TEXT NOT NULL,
    place TEXT NOT NULL,
    submitted BIGINT NOT NULL,
    collected BIGINT NOT NULL,
    secret TEXT NOT NULL,
    requests TEXT NOT NULL,
    PRIMARY KEY (run, job)
);
