"""The registry of metrics, the specs by which users name them, and the loader of user code."""

from ragstone.registry.metrics import REGISTERED as REGISTERED
from ragstone.registry.metrics import Metric as Metric
from ragstone.registry.metrics import MetricSpec as MetricSpec
from ragstone.registry.metrics import bind_options as bind_options
from ragstone.registry.metrics import describe_options as describe_options
from ragstone.registry.metrics import metric as metric
from ragstone.registry.metrics import resolve as resolve
from ragstone.registry.specs import parse_spec as parse_spec
from ragstone.registry.specs import split_specs as split_specs
