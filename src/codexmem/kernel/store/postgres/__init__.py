"""The PostgreSQL engine: many processes, many tenants, row-level security on every table."""
