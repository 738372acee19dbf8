"""Tests of codexmem.cli."""
