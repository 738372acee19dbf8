"""Tests of codexmem.lab.service."""
