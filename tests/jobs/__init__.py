"""Tests of codexmem.jobs."""
