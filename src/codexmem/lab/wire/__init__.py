"""The documents of contract 002 and beyond it: requests with their bounds, answers made from the lab's values.

Routes declare and return these models. Importing them loads nothing of a server: services are named for their types
alone.
"""
