"""Runs in a Python that has Ragas: faithfulness of the samples from standard input, one JSON line each."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from typing import Any


def main(url: str) -> None:
    """Score every sample; an exception of Ragas is a sample without a score."""
    import ragas
    from langchain_openai import ChatOpenAI
    from ragas.dataset_schema import SingleTurnSample
    from ragas.llms import LangchainLLMWrapper
    from ragas.metrics import Faithfulness

    model: Any = ChatOpenAI(
        model="local", base_url=url, api_key="none", max_retries=0, temperature=0, max_tokens=1500,
        timeout=3_600,
    )  # fmt: skip
    metric = Faithfulness(llm=LangchainLLMWrapper(model))
    loop = (
        asyncio.new_event_loop()
    )  # one for all: the client's connections belong to the loop they were made in
    for line in sys.stdin:
        row = json.loads(line)
        sample = SingleTurnSample(
            user_input=row["question"], response=row["answer"], retrieved_contexts=row["contexts"]
        )
        value, error = None, ""
        try:
            score = loop.run_until_complete(metric.single_turn_ascore(sample, timeout=3_600))
            value = float(score) if math.isfinite(score) else None
            error = "" if value is not None else "nan"
        except Exception as raised:  # whatever it is, the sample has no score
            error = f"{type(raised).__name__}: {raised}"
        print(
            json.dumps({"value": value, "error": error, "version": ragas.__version__}), flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1])
