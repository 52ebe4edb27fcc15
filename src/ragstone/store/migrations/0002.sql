-- The monitor: interactions of a live system, what people said of them, their scores, and what follows from these.
-- Times are microseconds since 1970, UTC. Texts from outside are kept as JSON in ASCII: no character of theirs can break a database.

-- Small columns only, so that a window is counted without reading texts. `number` counts arrivals.
CREATE TABLE interactions (
    number COUNTER,
    id TEXT NOT NULL UNIQUE,
    at BIGINT NOT NULL,
    received BIGINT NOT NULL,
    language TEXT,
    latency DOUBLE PRECISION,
    cost DOUBLE PRECISION,
    tokens BIGINT,
    failed BIGINT NOT NULL,
    meta TEXT NOT NULL
);
CREATE INDEX interactions_by_time ON interactions (at);

CREATE TABLE interaction_texts (
    number BIGINT PRIMARY KEY,
    body TEXT NOT NULL
);

-- The latest word on an interaction, which may not have arrived yet.
CREATE TABLE feedback (
    interaction TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    value DOUBLE PRECISION,
    comment TEXT
);

-- Interactions on which nobody has decided yet whether to judge them (wanted = 0), or that wait for the judge (1);
-- until `claimed` somebody is at it, or it rests after a failure of the judge.
CREATE TABLE monitor_queue (
    number BIGINT PRIMARY KEY,
    wanted BIGINT NOT NULL,
    drawn BIGINT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    tries BIGINT NOT NULL,
    claimed BIGINT NOT NULL
);
CREATE INDEX monitor_queue_by_state ON monitor_queue (wanted, number);

-- `value` or, where there is none, `outcome` says why; `score` is the whole with its evidence.
-- `drawn` = 1 when the share alone chose it; `weight` = 1 / the chance of being judged.
CREATE TABLE monitor_scores (
    number BIGINT NOT NULL,
    metric TEXT NOT NULL,
    at BIGINT NOT NULL,
    value DOUBLE PRECISION,
    outcome TEXT NOT NULL,
    drawn BIGINT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    scored BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    score TEXT NOT NULL,
    PRIMARY KEY (number, metric)
);
CREATE INDEX monitor_scores_by_time ON monitor_scores (metric, at);
CREATE INDEX monitor_scores_by_day ON monitor_scores (scored);

-- Buckets (start of five minutes) whose roll-ups no longer hold: one row for each change, so that writers never wait
-- for each other and a change during a recomputation leaves a mark of its own.
CREATE TABLE monitor_dirty (
    number COUNTER,
    bucket BIGINT NOT NULL
);

-- What a bucket of `span` seconds holds for a metric and a slice; field and value are empty for all interactions.
CREATE TABLE monitor_rollups (
    span BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    metric TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (span, bucket, metric, field, value)
);

CREATE TABLE monitor_alerts (
    id TEXT PRIMARY KEY,
    rule TEXT NOT NULL,
    state TEXT NOT NULL,
    opened BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    closed BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX monitor_alerts_by_time ON monitor_alerts (changed);

CREATE TABLE monitor_alert_events (
    number COUNTER,
    alert TEXT NOT NULL,
    at BIGINT NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX monitor_alert_events_by_alert ON monitor_alert_events (alert, at);

-- Detectors, drift references and cursors, each a JSON document under its name.
CREATE TABLE monitor_state (
    name TEXT PRIMARY KEY,
    updated BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- What was received, refused and lost, by hour (its start).
CREATE TABLE monitor_counters (
    name TEXT NOT NULL,
    hour BIGINT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name, hour)
);

-- Spans of traces that are not complete yet.
CREATE TABLE monitor_spans (
    trace TEXT NOT NULL,
    span TEXT NOT NULL,
    arrived BIGINT NOT NULL,
    root BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (trace, span)
);
CREATE INDEX monitor_spans_by_time ON monitor_spans (arrived);

-- Messages about alerts that are to leave, each once for a channel; `sent` is when it left, `tries` counts attempts begun.
CREATE TABLE monitor_outbox (
    key TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    created BIGINT NOT NULL,
    due BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    sent BIGINT,
    fault TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX monitor_outbox_by_time ON monitor_outbox (due);
