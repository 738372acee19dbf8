"""Tests of the QA endpoint."""
