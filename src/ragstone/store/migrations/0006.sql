-- Samples and scores in blocks of some hundred consecutive samples, in place of a row each (versions 6 to 9, see
-- `store/old_runs.py`). The rows of earlier versions stay in the tables `old_…`.
ALTER TABLE samples RENAME TO old_samples;
ALTER TABLE scores RENAME TO old_scores;

CREATE TABLE sample_blocks (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, first)
);

-- Apart from `sample_blocks`, so that a summary does not read the texts. `first` and `last` are positions.
CREATE TABLE score_blocks (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    keys TEXT NOT NULL,
    numbers BYTEA NOT NULL,
    details BYTEA NOT NULL,
    evidence BYTEA NOT NULL,
    PRIMARY KEY (run, first)
);
