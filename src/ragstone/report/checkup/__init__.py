"""A test set judged, as people read it."""
