"""The doors: one folder per outside contract, each of which parses, calls one service and renders.

A surface never imports another surface or the store; what all of them share about HTTP is in `_kit`.
"""
