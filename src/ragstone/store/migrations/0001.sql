-- Runs, their samples and scores, and every reply a judge gave.
CREATE TABLE runs (
    number COUNTER,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    status TEXT NOT NULL,
    plan TEXT NOT NULL,
    shape TEXT NOT NULL,
    source TEXT NOT NULL,
    format TEXT NOT NULL,
    metrics TEXT NOT NULL,
    judge TEXT,
    total BIGINT,
    bad_count BIGINT NOT NULL DEFAULT 0,
    bad TEXT NOT NULL DEFAULT '[]'
);

-- `input` is the row as it was read: exports give it back untouched.
CREATE TABLE samples (
    run BIGINT NOT NULL,
    place BIGINT NOT NULL,
    input TEXT NOT NULL,
    PRIMARY KEY (run, place)
);

-- One row a sample, all its metrics in one JSON object: a fraction of the time and space of one row a score.
-- Apart from `samples`, so that a summary does not read the texts.
CREATE TABLE scores (
    run BIGINT NOT NULL,
    place BIGINT NOT NULL,
    id TEXT NOT NULL,
    cluster TEXT,
    scores TEXT NOT NULL,
    PRIMARY KEY (run, place)
);

-- Content-addressed; `run` is the run that paid for it.
CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    judge TEXT NOT NULL,
    reply TEXT NOT NULL,
    calls BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX replies_by_run ON replies (run);
