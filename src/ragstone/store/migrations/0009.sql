-- Experiments: which runs belong together, and what a search or a grid of settings found. `runs` is a JSON list of ids,
-- `body` a JSON object that `experiments/records.py` describes.
CREATE TABLE experiments (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    runs TEXT NOT NULL,
    body TEXT NOT NULL
);
