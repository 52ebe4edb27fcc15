-- What a metric's values are worth with a judge in a language (JudgeScale); `judge` is its fingerprint, `source` who measured.
CREATE TABLE judge_scales (
    judge TEXT NOT NULL,
    language TEXT NOT NULL,
    metric TEXT NOT NULL,
    source TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (judge, language, metric, source)
);
