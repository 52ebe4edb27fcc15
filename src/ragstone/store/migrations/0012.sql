-- The same by day (UTC), for windows of many days: sums of the hours, made when they are first asked for. A day with `:many` in
-- one of its hours is not here, and one whose hours change is deleted.
CREATE TABLE monitor_rollups_daily (
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
CREATE INDEX monitor_rollups_daily_by_bucket ON monitor_rollups_daily (bucket);
