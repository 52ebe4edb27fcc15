"""Quality in production: interactions come in, a share is judged, windows are summarised, degradation is noticed."""

from ragstone.monitor.archive import AddResult, Archive, ScoredInteraction
from ragstone.monitor.interactions import Feedback, Interaction
from ragstone.monitor.monitor import Monitor

__all__ = ["AddResult", "Archive", "Feedback", "Interaction", "Monitor", "ScoredInteraction"]
