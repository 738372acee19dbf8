"""How well recall finds what it should: public question sets run through the production path.

`suites` read the sets, `run` writes and asks, `metrics` judges, `report` makes the document. The sets are not kept
here: a caller names the folder that holds them.
"""
