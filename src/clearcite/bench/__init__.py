"""Drives an engine from outside and judges what comes back: suites, measures, gates, reports."""
