"""The names of the PostgreSQL roles: three that transactions run under, and one that a function runs under."""

APP_ROLE = "codexmem_app"  # sees one tenant
MEMBER_ROLE = "codexmem_member"  # sees those projects of a tenant that a member has rights to
DISPATCH_ROLE = "codexmem_dispatch"  # sees jobs and keys of all tenants, nothing else
SEARCH_ROLE = "codexmem_search"  # owns functions that search: sees words of all tenants, changes nothing
