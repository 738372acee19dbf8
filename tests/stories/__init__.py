"""Whole stories, told end to end over the real endpoints."""
