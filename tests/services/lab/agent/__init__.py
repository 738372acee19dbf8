"""Tests of codexmem.lab.service.agent."""
