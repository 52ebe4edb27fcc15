-- Finds a question in other runs by its id.
CREATE INDEX samples_by_id ON samples (run, id);

-- Addresses of the viewer that somebody kept: under a name, or for a short link alone (`name` empty). `id` follows from
-- the address; `at` is in microseconds since 1970.
CREATE TABLE saved_views (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL,
    author TEXT NOT NULL DEFAULT '',
    at BIGINT NOT NULL
);

-- Test sets that are put together in the viewer, with their history: of each item the revision with the highest `number`
-- counts. `item` is a row as test set files have it, one JSON document; empty: the item was taken out. `origin` is where it
-- came from: `run RUN`, `monitor`, or empty for an edit.
CREATE TABLE testset_items (
    testset TEXT NOT NULL,
    id TEXT NOT NULL,
    number BIGINT NOT NULL,
    item TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    author TEXT NOT NULL DEFAULT '',
    at BIGINT NOT NULL,
    PRIMARY KEY (testset, id, number)
);
