"""The viewer: every run of a store as pages; what they show is asked of the store in SQL."""
