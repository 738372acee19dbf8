#!/usr/bin/env bash
# Run by the database's own image when its data directory is empty: the login of codexmem, which is no superuser.
set -euo pipefail

password=$(cat /run/secrets/database_password)
psql --set ON_ERROR_STOP=1 --set password="$password" --username "${POSTGRES_USER:-postgres}" <<'SQL'
CREATE ROLE codexmem LOGIN CREATEROLE BYPASSRLS PASSWORD :'password';
CREATE DATABASE codexmem OWNER codexmem;
\connect codexmem
CREATE EXTENSION vector;
SQL
