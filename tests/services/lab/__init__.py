"""Tests of codexmem.services.lab."""
