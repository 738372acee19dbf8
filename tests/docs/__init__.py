"""Tests of the documentation: both languages, every link, every command, and what is generated from the code."""
