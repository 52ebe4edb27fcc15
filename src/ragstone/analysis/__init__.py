"""What the scores of runs add up to: summaries, comparisons, failure classes, and the statistics behind them."""

from ragstone.analysis.category_rates import LabelRate as LabelRate
from ragstone.analysis.category_rates import label_rates as label_rates
from ragstone.analysis.summary import MetricSummary as MetricSummary
from ragstone.analysis.summary import ScoredRun as ScoredRun
from ragstone.analysis.summary import Summary as Summary
from ragstone.analysis.summary import summarise as summarise
from ragstone.config.gates import GateResult as GateResult
