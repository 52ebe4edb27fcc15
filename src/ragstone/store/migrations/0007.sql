-- What people note of runs: tags (a JSON list), a text, whether it is the baseline of its data set, when it was put into
-- the bin (0: it was not). `finished` is when the scores last became complete. Times are microseconds since 1970.
CREATE TABLE run_notes (
    run TEXT PRIMARY KEY,
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    baseline BIGINT NOT NULL DEFAULT 0,
    deleted BIGINT NOT NULL DEFAULT 0,
    finished BIGINT NOT NULL DEFAULT 0
);
