"""Tests of codexmem.surfaces.worker_api beyond its contract."""
