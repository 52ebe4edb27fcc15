-- Roll-ups as columns in bytes, which are added up in one go; all are made anew from the rows.
DROP TABLE monitor_rollups;

-- What a bucket of `span` seconds holds of a field's slices; the field of all interactions is empty.
-- `kind` is `sums` or `bins` (histograms). An empty body: look at the next smaller span, or at the rows.
CREATE TABLE monitor_rollups (
    span BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    field TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (span, bucket, field, kind)
);

DELETE FROM monitor_dirty;
INSERT INTO monitor_dirty (bucket) SELECT DISTINCT at / 300000000 * 300000000 FROM interactions;

-- Hours and days (span in seconds) that are read from what they are made of until somebody adds them up again.
CREATE TABLE monitor_stale (
    span BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    PRIMARY KEY (span, bucket)
);
