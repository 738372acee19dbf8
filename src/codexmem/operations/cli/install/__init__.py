"""Connecting agents and keeping the server running: init, install, uninstall, start, stop, status, logs, open."""
