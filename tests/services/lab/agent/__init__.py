"""Tests of codexmem.services.lab.agent."""
