-- What people said of samples, claims, chunks and answers. Rows are only added: the latest of one person on one item
-- counts, the earlier ones are its revisions; a row without value and word takes it back.
-- `run` is empty for labels of any run with the sample, `monitor` for interactions. `content` is the hash of the texts
-- that were labelled. `chance` is the probability with which the item was drawn; null when nobody knows.
CREATE TABLE labels (
    number COUNTER,
    run TEXT NOT NULL,
    sample TEXT NOT NULL,
    target TEXT NOT NULL,
    item TEXT NOT NULL,
    author TEXT NOT NULL,
    at BIGINT NOT NULL,
    value DOUBLE PRECISION,
    word TEXT NOT NULL,
    comment TEXT NOT NULL,
    content TEXT NOT NULL,
    chance DOUBLE PRECISION,
    origin TEXT NOT NULL
);
CREATE INDEX labels_by_sample ON labels (sample);
CREATE INDEX labels_by_run ON labels (run, target);
