"""Tests of codexmem.services.lab.profiles."""
