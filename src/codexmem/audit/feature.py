"""The audit logs of wrappers, as a room."""

from codexmem.kernel.feature import Feature

FEATURE = Feature("audit", build="codexmem.audit.service:build", surfaces=("codexmem.audit.http:SURFACE",))
