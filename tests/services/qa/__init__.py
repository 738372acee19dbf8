"""Tests of questions with answers."""
