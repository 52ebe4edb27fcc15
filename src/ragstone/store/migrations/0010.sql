-- One row a sample, a score, a finding: what can be asked of a run can be asked in SQL. `run` is `runs.number`; the views
-- below have the run's id instead. Runs of earlier versions (`layout` = 'old') are moved here when they are first read.
ALTER TABLE runs ADD COLUMN layout TEXT NOT NULL DEFAULT 'old';

-- Stores of versions 6 to 9 have dropped these.
CREATE TABLE IF NOT EXISTS old_samples (run BIGINT NOT NULL, place BIGINT NOT NULL, input TEXT NOT NULL, PRIMARY KEY (run, place));
CREATE TABLE IF NOT EXISTS old_scores (
    run BIGINT NOT NULL, place BIGINT NOT NULL, id TEXT NOT NULL, cluster TEXT, scores TEXT NOT NULL,
    PRIMARY KEY (run, place)
);

-- Without the texts, so that counting and pairing samples reads little. `cluster` is the group: document or session.
CREATE TABLE samples (
    run BIGINT NOT NULL,
    position BIGINT NOT NULL,
    id TEXT NOT NULL,
    cluster TEXT,
    PRIMARY KEY (run, position)
) CLUSTERED;

-- `input` is the row as it was read, one JSON document.
CREATE TABLE sample_inputs (
    run BIGINT NOT NULL,
    position BIGINT NOT NULL,
    input TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

-- `value`, or an `outcome` other than 'ok' and the `reason`. `details` is JSON: warnings, and what a reason is made of.
-- `hits` counts replies of the judge that an earlier run had paid for. An index by value would cost more than the scores
-- themselves and save 7 ms in sorting 100,000 of them.
CREATE TABLE scores (
    run BIGINT NOT NULL,
    metric TEXT NOT NULL,
    position BIGINT NOT NULL,
    value DOUBLE PRECISION,
    outcome TEXT NOT NULL,
    reason TEXT,
    kind TEXT,
    label TEXT,
    probability DOUBLE PRECISION,
    calls BIGINT,
    hits BIGINT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    usd DOUBLE PRECISION,
    details TEXT,
    PRIMARY KEY (run, metric, position)
) CLUSTERED;

-- What a score is made of: each claim with its verdict and the text that decides it. `number` counts from 0.
CREATE TABLE findings (
    run BIGINT NOT NULL,
    metric TEXT NOT NULL,
    position BIGINT NOT NULL,
    number BIGINT NOT NULL,
    text TEXT NOT NULL,
    verdict TEXT NOT NULL,
    probability DOUBLE PRECISION,
    reason TEXT,
    chunk TEXT,
    quote TEXT,
    details TEXT,
    PRIMARY KEY (run, metric, position, number)
) CLUSTERED;

-- What samples can be filtered by, as the viewer writes it when a run is first opened there: `trait` is `class` (of
-- failure), `language`, `verdict` (of which a sample can have several) or `meta.FIELD`.
CREATE TABLE sample_traits (
    run BIGINT NOT NULL,
    trait TEXT NOT NULL,
    position BIGINT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, trait, position, value)
) CLUSTERED;

-- How many samples have each value of a trait; also of `outcome.METRIC` and `label.METRIC`.
CREATE TABLE trait_counts (
    run BIGINT NOT NULL,
    trait TEXT NOT NULL,
    value TEXT NOT NULL,
    samples BIGINT NOT NULL,
    PRIMARY KEY (run, trait, value)
);

-- What a metric is among the samples with a value of a trait: scored samples, Σ x, Σ x², Σ x³, and the ends.
CREATE TABLE trait_scores (
    run BIGINT NOT NULL,
    trait TEXT NOT NULL,
    value TEXT NOT NULL,
    metric TEXT NOT NULL,
    scored BIGINT NOT NULL,
    total DOUBLE PRECISION,
    squares DOUBLE PRECISION,
    cubes DOUBLE PRECISION,
    lowest DOUBLE PRECISION,
    highest DOUBLE PRECISION,
    PRIMARY KEY (run, trait, value, metric)
);

-- What the viewer made of a run (`traits`, `summary`) and of which state of it; `body` is JSON.
CREATE TABLE run_derived (
    run BIGINT NOT NULL,
    name TEXT NOT NULL,
    stamp BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, name)
);

CREATE VIEW run_summary AS
    SELECT runs.id AS run, runs.name AS run_name, runs.created AS created, scores.metric AS metric,
        COUNT(*) AS samples, COUNT(scores.value) AS scored, AVG(scores.value) AS mean,
        MIN(scores.value) AS lowest, MAX(scores.value) AS highest,
        SUM(CASE WHEN scores.outcome IN ('ok', 'not_applicable', 'missing_field') THEN 0 ELSE 1 END) AS failed
    FROM runs JOIN scores ON scores.run = runs.number
    GROUP BY runs.id, runs.name, runs.created, scores.metric;

CREATE VIEW sample_scores AS
    SELECT runs.id AS run, runs.name AS run_name, samples.position AS position, samples.id AS sample,
        samples.cluster AS cluster, scores.metric AS metric, scores.value AS value, scores.outcome AS outcome,
        scores.reason AS reason, scores.label AS label, scores.probability AS probability, scores.usd AS usd
    FROM runs JOIN samples ON samples.run = runs.number
        JOIN scores ON scores.run = samples.run AND scores.position = samples.position;

CREATE VIEW sample_findings AS
    SELECT runs.id AS run, runs.name AS run_name, samples.position AS position, samples.id AS sample,
        findings.metric AS metric, findings.number AS number, findings.text AS text, findings.verdict AS verdict,
        findings.probability AS probability, findings.reason AS reason, findings.chunk AS chunk,
        findings.quote AS quote
    FROM runs JOIN findings ON findings.run = runs.number
        JOIN samples ON samples.run = findings.run AND samples.position = findings.position;
