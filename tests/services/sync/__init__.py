"""Memories as files."""
