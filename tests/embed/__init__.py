"""Tests of embedders."""
