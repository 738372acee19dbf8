"""Tests of codexmem.http.web: what it serves, how it is packed, and the description its client is made from."""
