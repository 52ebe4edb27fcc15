-- What an hour holds of a metric and a slice, in plain columns. Earlier versions kept packed tables of five minutes, hours and
-- days; both tables are made anew from the interactions and scores.
DROP TABLE monitor_rollups;
DROP TABLE monitor_stale;

-- `bucket` is the start of the hour in microseconds since 1970, UTC. `field` and `value` are the slice, empty for all
-- interactions. `metric` is a metric, or `:all` (counts interactions), `:latency`, `:cost`, `:tokens`, `:feedback`; `:many`
-- stands for a field with too many values in that hour, `n` of them, which is read from the rows.
-- A mean is `total / weights`: weights make judged interactions stand for all. `squares` and `cubes` are weighted sums of x²
-- and x³. `outcomes` is JSON, why there is no value → count; `histogram` is JSON, value (the middle of its bin) → weight.
CREATE TABLE monitor_rollups (
    field TEXT NOT NULL,
    bucket BIGINT NOT NULL,
    value TEXT NOT NULL,
    metric TEXT NOT NULL,
    n BIGINT NOT NULL,
    weights DOUBLE PRECISION NOT NULL,
    weights_squared DOUBLE PRECISION NOT NULL,
    total DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    cubes DOUBLE PRECISION NOT NULL,
    lowest DOUBLE PRECISION,
    highest DOUBLE PRECISION,
    extra BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    outcomes TEXT NOT NULL,
    histogram TEXT NOT NULL,
    PRIMARY KEY (field, bucket, value, metric)
) CLUSTERED;
CREATE INDEX monitor_rollups_by_bucket ON monitor_rollups (bucket);

DELETE FROM monitor_dirty;
INSERT INTO monitor_dirty (bucket) SELECT DISTINCT at / 3600000000 * 3600000000 FROM interactions;
