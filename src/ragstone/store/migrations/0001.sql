-- Runs, their samples and scores, and every reply a judge gave.
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
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
    total INTEGER,
    bad_count INTEGER NOT NULL DEFAULT 0,
    bad TEXT NOT NULL DEFAULT '[]'
);

-- `row` is the input row as it was read: exports give it back untouched.
CREATE TABLE samples (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    row TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

-- One row a sample, all its metrics in one JSON object: a fraction of the time and space of one row a score.
-- Apart from `samples`, so that a summary does not read the texts.
CREATE TABLE scores (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    cluster TEXT,
    scores TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

-- Content-addressed; `run` is the run that paid for it.
CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    judge TEXT NOT NULL,
    reply TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    usd REAL NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX replies_by_run ON replies (run);
