"""What the embedded judge is worth on labelled sets that its weights have not seen."""

from __future__ import annotations

import pytest
from bench.judge.rows import JUDGE_SETS, data_folder


@pytest.mark.slow
def test_on_sets_left_out_it_beats_plain_ways_and_its_probabilities_hold() -> None:
    if not all((data_folder() / "judge" / f"{name}.jsonl.gz").is_file() for name in JUDGE_SETS):
        pytest.skip("the labelled data are not beside the checkout")
    pytest.importorskip("scipy")
    from bench.judge import __main__ as bench
    from bench.judge.claims import list_rows

    predictions = list(bench.predict_left_out(list_rows()))
    sets = bench.measure_sets(predictions)
    mean, records = sets["mean"], sets["ragtruth: JSON contexts"]
    assert mean["value shown"] >= mean["containment"] + 0.02
    assert mean["value shown"] >= mean["ten features"]
    assert records["balanced accuracy"] >= 0.6
    assert bench.measure_calibration(predictions)["all"] <= 0.12
