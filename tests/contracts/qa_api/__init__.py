"""Tests of the QA door."""
