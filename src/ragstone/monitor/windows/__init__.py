"""Time windows: statistics of a stretch of time from roll-ups, trends, and period-over-period reports."""
