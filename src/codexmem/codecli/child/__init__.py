"""The agent as a process, when we sit between it and its person: started, its streams passed on, its end told.

What passes is never changed, held back or put into another order within its stream; what we read of it is a copy.
"""
