"""How well recall finds what it should: public question sets run through the production path.

`suites` read the sets, `run` writes and asks, `metrics` and `calibration` judge, `report` makes the document. The sets
themselves are never part of the package: a caller names the folder that holds them.
"""
