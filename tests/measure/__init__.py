"""Tests of codexmem.measure."""
