"""Tests of codexmem.lab.service.profiles."""
