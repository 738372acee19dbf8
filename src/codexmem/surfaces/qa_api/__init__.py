"""The QA door (contract 001): questions with answers for `mem-codecli` and whoever else speaks `/v1/qa`."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.qa_api.problems import ERRORS
from codexmem.surfaces.qa_api.routes import Services, routes

SURFACE: Surface[Services] = Surface(
    name="qa_api",
    prefixes=("/v1/qa",),
    kinds=frozenset({Kind.QA}),
    routes=routes,
    errors=ERRORS,
)
