"""Tests of core.analysis.head_patterns."""
