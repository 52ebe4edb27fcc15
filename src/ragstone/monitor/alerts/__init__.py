"""Alerts: rules that evaluate quality, alert states, and delivery of notifications to channels."""
