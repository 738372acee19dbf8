"""Tests of codexmem.events."""
