"""Tests of codexmem.services."""
