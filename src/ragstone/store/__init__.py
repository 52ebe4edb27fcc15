"""The store of runs and replies: a SQLite file by default, PostgreSQL by URL; several processes may share one."""

from ragstone.store.plans import RunFacts as RunFacts
from ragstone.store.rows import NewRow as NewRow
from ragstone.store.rows import ScoreBatch as ScoreBatch
from ragstone.store.runs import RunInfo as RunInfo
from ragstone.store.runs import StoredRow as StoredRow
from ragstone.store.runs import StoredRun as StoredRun
from ragstone.store.runs import format_plan as format_plan
from ragstone.store.runs import set_language as set_language
from ragstone.store.runs import to_metric_record as to_metric_record
from ragstone.store.scales import load_calibration as load_calibration
from ragstone.store.scales import load_scales as load_scales
from ragstone.store.scales import save_calibration as save_calibration
from ragstone.store.scales import save_scales as save_scales
from ragstone.store.store import Store as Store
from ragstone.store.store import StoredReply as StoredReply
from ragstone.store.store import default_place as default_place
