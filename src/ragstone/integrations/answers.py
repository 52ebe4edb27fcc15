"""A judge asked directly: one sample at a time, where a store of replies would cost more than it saves."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.asks import Answered, Ask
from ragstone.judges import Judge


class JudgeAnswers:
    """Answers the Asks of a sample by the judge alone."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Hand the Asks on; the calibration of a judge counts as in a run."""
        answers = await self._judge.answer(asks)
        calibration = getattr(self._judge, "calibration", None)
        if calibration is None:
            return answers
        return [
            calibration.calibrate_reply(a, given) for a, given in zip(asks, answers, strict=True)
        ]
