"""What each agent calls things. A dialect is a pure function from the agent's payload to our field names.

Every dialect starts from the plain reading, which knows both spellings of our own fields, and adds what its agent does
differently. Payloads come from programs that change weekly: what is missing is left out, what is odd is passed on.
"""
