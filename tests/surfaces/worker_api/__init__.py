"""Tests of codexmem.app.worker_api beyond its contract."""
