-- Samples and scores in blocks of some hundred consecutive samples, in place of a row each. `store/blocks.py` says what is
-- in the columns; `store/block_migration.py` moves the rows of earlier versions and drops their tables.
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
