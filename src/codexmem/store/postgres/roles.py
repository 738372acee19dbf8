"""The names of the two PostgreSQL roles that transactions run under."""

APP_ROLE = "codexmem_app"  # sees one tenant
DISPATCH_ROLE = "codexmem_dispatch"  # sees jobs and keys of all tenants, nothing else
