"""The lab's agent: answers a request by recursive planning and acting (ReCAP), over the roles of a profile.

A role plans, acts through tools, hands subtasks down to other roles and comes back up with their results, its own plan
always before its eyes. Every model call and every tool call is a step of the run's journal.
"""

from codexmem.lab.service.agent.answering import ModelFailed, ProfileAgent
from codexmem.lab.service.agent.output import Rejected

__all__ = ["ModelFailed", "ProfileAgent", "Rejected"]
