"""Distilling without a model."""
