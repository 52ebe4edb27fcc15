"""The monitor of a live system: interactions are stored, a share of them is judged, time windows are summarised, and alerts are raised when quality drops."""

from ragstone.monitor.archive import AddResult, Archive, ScoredInteraction
from ragstone.monitor.interactions import Feedback, Interaction
from ragstone.monitor.monitor import Monitor

__all__ = ["AddResult", "Archive", "Feedback", "Interaction", "Monitor", "ScoredInteraction"]
