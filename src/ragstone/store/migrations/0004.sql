-- What a metric's values are worth with a judge in a language (JudgeScale); `judge` is its fingerprint.
CREATE TABLE judge_scales (
    judge TEXT NOT NULL,
    language TEXT NOT NULL,
    metric TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (judge, language, metric)
);
