# Every task of the project. Bare `just` runs the gate; `just --list` shows the rest.

set positional-arguments

python := justfile_directory() / ".venv/bin/python"

# Whatever the caller has set: tests and the programs they start are compiled once, not by each of them.
export PYTHONDONTWRITEBYTECODE := ""

# everything the gate checks, in its order
check: engines lint (generated "--check") types test

# make .venv from the lock and install the project into it
setup:
    .ci/run --setup-only

# the engines this checkout tests against
engines:
    @"{{ python }}" -m tests._support.engines

# style and format
lint:
    "{{ python }}" -m ruff check .
    "{{ python }}" -m ruff format --check .

# write what `lint` only checks
fix:
    "{{ python }}" -m ruff check --fix .
    "{{ python }}" -m ruff format .

# strict types
types:
    "{{ python }}" -m mypy

# before a commit: lint of the files that changed, types, and the tests that start nothing and are not slow; arguments go to pytest
quick *args:
    #!/usr/bin/env bash
    set -euo pipefail
    cd "{{ justfile_directory() }}"
    mapfile -t changed < <({ git diff --name-only --diff-filter=d "$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || echo HEAD)"; \
        git ls-files --others --exclude-standard; } | grep '\.py$' | sort -u)
    if [ "${#changed[@]}" -gt 0 ]; then
        "{{ python }}" -m ruff check "${changed[@]}"
        "{{ python }}" -m ruff format --check "${changed[@]}"
    fi
    # One core judges types while the other tests; mypy remembers what it has judged.
    "{{ python }}" -m mypy &
    types=$!
    "{{ python }}" -m pytest -m "unit and not slow" -n 2 --dist worksteal "$@" || { wait "$types" || true; exit 1; }
    wait "$types"

# all tests, on both engines; arguments go to pytest
test *args:
    "{{ python }}" -m pytest "$@"

# tests that need no PostgreSQL
test-sqlite *args:
    "{{ python }}" -m pytest -m "not postgresql" "$@"

# attacks by remembered text, and what of them reaches an agent; a number of attacks for each place may be given
poisoning *args:
    "{{ python }}" -m tests.poisoning "$@"

# tests that need PostgreSQL
test-postgres *args:
    "{{ python }}" -m pytest -m postgresql "$@"

# pin every dependency with its hashes; `just lock --upgrade` takes newer versions
lock *args:
    "{{ python }}" -m uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
        --python-version 3.11 pyproject.toml --output-file requirements/base.txt "$@"
    "{{ python }}" -m uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
        --python-version 3.11 pyproject.toml --all-extras --group dev --group docs --group examples --constraints requirements/base.txt \
        --output-file requirements/dev.txt "$@"
    "{{ python }}" -m uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
        --python-version 3.11 pyproject.toml --extra postgres --extra chroma --extra embed --extra patterns --extra lab --extra otel --extra oidc \
        --constraints requirements/base.txt --output-file requirements/container.txt "$@"
    "{{ python }}" -m uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
        --python-version 3.11 --group release --output-file requirements/release.txt "$@"

# pin the coding agents and the issuer that tests drive, after a change in their package.json
lock-agents:
    "{{ python }}" -m tests.agents.installation lock
    "{{ python }}" -m tests.issuer.provider lock

# from `pip install` to a recalled memory with four real agents in an empty home, and back; prints the seconds
first-minute:
    "{{ python }}" -m tests.agents.first_minute

# recordings of real agents under mem-codecli, which tests of the adapters play again
record-agents *names:
    "{{ python }}" -m tests.agents.recordings "$@"

# the model request in docs/agents.md, from two sessions of a real agent
agents-example:
    "{{ python }}" -m tests.agents.example

# everything that is made from code, locks or kept figures: reference, interface descriptions, manual, plugins, licences, tables, charts; `--check` only compares
generated *args:
    @"{{ python }}" -m tests.generated "$@"

# how many files, functions and folders four journeys touch, and the package's size
journeys *args:
    "{{ python }}" -m bench.journeys "$@"

# history against a plain model, 20,000 sequences per engine
soak-history *args:
    "{{ python }}" -m bench.history "$@"

# every act on memories of every kind against a plain model, 20,000 sequences per engine
soak-lives *args:
    "{{ python }}" -m bench.lives "$@"

# the sixteen tools on notes against a plain model, 2,000 sequences per engine
soak-notes *args:
    "{{ python }}" -m bench.notes "$@"

# random edits of files and memories against a plain model, 10,000 sequences per engine: none lost, none overwritten
soak-sync *args:
    "{{ python }}" -m bench.sync "$@"

# SIGKILL under load with a ledger of acknowledged writes
soak-kill *args:
    "{{ python }}" -m bench.kill "$@"

# the write-ahead log removed under a server that is killed with its first 503: nothing acknowledged is lost
soak-removed-log *args:
    "{{ python }}" -m bench.removed_log "$@"

# tenants moved between three clusters under write load, the mover killed at every step
soak-tenant-moves *args:
    "{{ python }}" -m bench.tenant_moves "$@"

# a thousand tenants behind several servers: how throughput grows with them, and one killed every five seconds
soak-many-tenants *args:
    "{{ python }}" -m bench.many_tenants "$@"

# a synchronous standby promoted while clients write, again and again, and a frozen primary: nothing lost; --patroni: by itself
soak-failover *args:
    "{{ python }}" -m bench.failover "$@"

# queue: backlog, worker crashes, lanes
soak-queue *args:
    "{{ python }}" -m bench.queue "$@"

# 100,000 queries of every sort on each engine: none may raise
soak-queries *args:
    "{{ python }}" -m bench.queries "$@"

# searches while Chroma is killed and the embedding server goes: all answered, all telling the truth
soak-storm *args:
    "{{ python }}" -m bench.storm "$@"

# live readers that take nothing, while the log grows by 100,000 events
soak-streams *args:
    "{{ python }}" -m bench.streams "$@"

# 10,000 extractions while the model server fails half of the time: each ends, once
soak-extraction *args:
    "{{ python }}" -m bench.extraction_faults "$@"

# 20,000 consolidations at random, each taken back exactly
soak-consolidation *args:
    "{{ python }}" -m bench.consolidation "$@"

# 1,000 sessions imported beside live hooks, killed 20 times, repeated and taken back: just soak-import --data DIR
soak-import *args:
    "{{ python }}" -m bench.transcripts "$@"

# 10,000 hook events while the server is killed: none lost, none twice, exit 0 always
soak-hooks *args:
    "{{ python }}" -m bench.hook_storm "$@"

# the person's own Codex, Claude Code, Qwen Code, Gemini CLI and OpenCode as models, none of it captured
soak-authors *args:
    "{{ python }}" -m tests.agents.authors "$@"

# every writer in both languages with real servers: nothing leaves the machine before somebody has chosen
soak-consent *args:
    CODEXMEM_CONSENT_TESTS_WHOLE=1 CODEXMEM_TEST_FORK=0 "{{ python }}" -m pytest tests/cli/test_consent.py "$@"

# what five real agents keep of a conversation, read and compared with what their hooks are told
soak-transcripts *args:
    "{{ python }}" -m tests.agents.transcripts "$@"

# the ten methods of the knowledge interface against a plain model, 2,000 sequences per engine
soak-knowledge *args:
    "{{ python }}" -m bench.knowledge "$@"

# 10,000 hostile names and paths, with links planted and swapped: nothing outside is touched
soak-hostile *args:
    "{{ python }}" -m bench.hostile_paths "$@"

# 1,000 backups under load and 200 killed restores per engine: one moment each, old or new
soak-snapshots *args:
    "{{ python }}" -m bench.snapshots "$@"

# 1,000 harms to an audit log of 100,000 rows: each is found, and its first row named
soak-audit *args:
    "{{ python }}" -m bench.audit_harm "$@"

# 200 SIGKILLs of server and workers per engine while batches run: every run true, every call traced, no event lost
soak-lab-kills *args:
    "{{ python }}" -m bench.lab_kills "$@"

# a strict rollback restores exactly the state before that learning, 20,000 sequences per engine
soak-lab-rollback *args:
    "{{ python }}" -m bench.lab_rollback "$@"

# requests made from the lab's interface description, right and wrong, for ten minutes per engine: no server error
soak-schemathesis *args:
    "{{ python }}" -m bench.lab_schema "$@"

# build the documentation site, strictly, in build/docs/site
docs:
    "{{ python }}" -m tests.docs.building

# build it and show it on http://127.0.0.1:8000 until Ctrl-C
docs-serve:
    "{{ python }}" -m tests.docs.building serve

# record the terminal session of the README in both languages, with real Codex
record-terminal:
    "{{ python }}" -m tests.docs.recording

# every plugin checked, installed, used and removed by the real program; names choose agents
try-plugins *names:
    "{{ python }}" -m tests.agents.plugins "$@"

# the agents that the gate does not have: set up by install, used and cleaned by the real program; names choose agents
try-agents *names:
    "{{ python }}" -m tests.agents.installed "$@"

# build the web application where the server finds it
web:
    "{{ python }}" -m tests.web.building

# look at the web application in Chromium; arguments go to pytest
test-web *args:
    "{{ python }}" -m pytest -m browser "$@"

# every test of the web application in both languages, every rule of axe in both themes
soak-web *args:
    CODEXMEM_WEB_TESTS_WHOLE=1 "{{ python }}" -m pytest -m browser "$@"

# pictures of every page, light and dark, English and Chinese, in web/screenshots; some of them by name
screenshots *names:
    "{{ python }}" -m tests.web.shots "$@"

# twelve pages, each in one look, compared with kept pictures; `--write` keeps new ones of all looks
pictures *args:
    "{{ python }}" -m tests.web.pictures "$@"

# the same pages in both themes and languages
soak-pictures *args:
    "{{ python }}" -m tests.web.pictures --all "$@"

# 100 script-injection texts in every field that a page shows, each in each: none runs, none is asked elsewhere
soak-hostile-pages *args:
    "{{ python }}" -m bench.hostile_pages "$@"

# the lab's queue: turns between batches, a cancel of 500 runs, pages of a trace of 100,000 events
bench-lab-queue *args:
    "{{ python }}" -m bench.lab_queue "$@"

# the trace of a run of 100,000 events in Chromium: rows in the page, and how long each interaction takes
bench-web-trace *args:
    "{{ python }}" -m bench.web_trace "$@"

# whether memories are marked whose files changed between two releases of real packages, and what looking costs
bench-staleness *args:
    "{{ python }}" -m bench.staleness "$@"

# every wait of a person or an agent beside what the machine needs for it; `--write` keeps it in docs/performance.json
bench *args:
    "{{ python }}" -m bench.performance "$@"

# wall time of a hook beside that of Python itself
bench-hook *args:
    "{{ python }}" -m bench.hook_time "$@"

# what the wrapper costs an agent that prints 100 MB, and when its first byte comes
bench-passthrough *args:
    "{{ python }}" -m bench.passthrough "$@"

# write rate beside bare commits
bench-writes *args:
    "{{ python }}" -m bench.writes "$@"

# reads and lists at 10,000 and 1,000,000 memories
bench-scale *args:
    "{{ python }}" -m bench.scale "$@"

# search by meaning in large scopes: speed and recall
bench-vectors *args:
    "{{ python }}" -m bench.vectors "$@"

# search beside the bare queries it stands on, at 10,000, 100,000 and 1,000,000 memories
bench-search *args:
    "{{ python }}" -m bench.search_latency "$@"

# a server on a large store: ready, idle, searches and prompts over HTTP
bench-large *args:
    "{{ python }}" -m bench.large "$@"

# where the processor's time of a wait goes, as pictures
bench-flame *args:
    "{{ python }}" -m bench.flame "$@"

# searches over HTTP by sixteen clients at once, with the shipped encoder
bench-clients *args:
    "{{ python }}" -m bench.search_clients "$@"

# processor time and bytes of an event, a memory and a search on PostgreSQL: --write keeps them
bench-costs *args:
    "{{ python }}" -m bench.unit_costs "$@"

# what a number of developers takes, from those costs and prices: --inputs FILE
bench-growth *args:
    "{{ python }}" -m bench.growth "$@"

# other memories beside ours, each in its own environment: --environments DIR --data DIR; --systems and --texts choose
bench-others *args:
    "{{ python }}" -m bench.others "$@"

# tenants interleaved on one pooled connection
bench-tenants *args:
    "{{ python }}" -m bench.tenants "$@"

# what rights by project cost
bench-rights *args:
    "{{ python }}" -m bench.project_rights "$@"

# a busy tenant beside quiet ones, a frozen database, a revoked key
bench-fairness *args:
    "{{ python }}" -m bench.fairness "$@"

# what is answered though nothing fits, and what is kept: just bench-relevance --data DIR [--embedder local] [--fit]
bench-relevance *args:
    "{{ python }}" -m bench.relevance "$@"

# how well recall finds, on question sets in a folder: just bench-retrieval --data DIR
bench-retrieval *args:
    "{{ python }}" -m codexmem.cli bench retrieval "$@"

# whether decisions of earlier chats reach an agent's first request: just bench-delivery --data DIR
bench-delivery *args:
    "{{ python }}" -m bench.delivery "$@"

# whether the commit that decided a rule reaches an agent's first request: just bench-git-history --data DIR
bench-git-history *args:
    "{{ python }}" -m bench.git_history "$@"

# how often real agents must be corrected, with and without codexmem: just bench-effect --data DIR [--sample N]
bench-effect *args:
    "{{ python }}" -m bench.corrections "$@"

# what real coding sessions are told, and whether questions about them are answered: just bench-coding --data DIR
bench-coding *args:
    "{{ python }}" -m bench.coding "$@"

# what an author is shown of real sessions, and what asking costs: just bench-author --data DIR
bench-author *args:
    "{{ python }}" -m bench.author "$@"

# answers with invented files, numbers, commands, quotes and instructions: what is stored of them
bench-claims *args:
    "{{ python }}" -m bench.claims "$@"

# strangers' prompts, small talk and nonsense, put to every interface: just bench-noise --data DIR
bench-noise *args:
    "{{ python }}" -m bench.noise "$@"

# whether facts said once in a month of work reach the sessions that need them; needs no sets
bench-month *args:
    "{{ python }}" -m bench.month "$@"

# whether what people are shown is to the letter what an agent is handed, on random stores
bench-preview *args:
    "{{ python }}" -m bench.preview "$@"

# whether a request brings the notes it names and no others: just bench-precision --data DIR
bench-precision *args:
    "{{ python }}" -m bench.precision "$@"

# whether both engines give the same first ten results; needs --data
bench-agreement *args:
    "{{ python }}" -m bench.agreement "$@"

# weights and calibration of the default recipe from tuning questions; needs --data and --store
fit-recipe *args:
    "{{ python }}" -m bench.fit "$@"

# a sample of what was missed, by cause; needs --data and --suite
bench-misses *args:
    "{{ python }}" -m bench.misses "$@"

# the tests of all contracts on both engines; `--encoder on` or `off`: with or without the shipped encoder; `--pooler`: on PostgreSQL through PgBouncer
contracts *args:
    "{{ python }}" -m tests.contracts "$@"

# what answers gain by learning from signals that are partly wrong
bench-qa-loop *args:
    "{{ python }}" -m bench.qa_loop "$@"

# recall of secrets by provider and context, false alarms and hostile texts, beside detect-secrets
bench-secrets *args:
    "{{ python }}" -m bench.secrets "$@"

# how many events per second are captured
bench-capture *args:
    "{{ python }}" -m bench.capture "$@"

# how quick Brief, memories, QA and one memory are in Chromium, as ratios to a bare page of the same server
bench-web *args:
    "{{ python }}" -m bench.web "$@"

# a timeline of 100,000 memories in Chromium: rows in the page, and how long keys and clicks take
bench-web-scroll *args:
    "{{ python }}" -m bench.web_scroll "$@"

# other projects' own tests on the client's adapters: unpacked sources of langgraph-checkpoint and openai-agents
try-adapters *args:
    "{{ python }}" -m tests.client.upstream "$@"

# wheel and source distribution, with the web application, in dist/
build:
    "{{ python }}" -m tests.packaging.building

# build the last commit twice, in two clones, and the wheel from the source distribution: all hashes equal, or what differs
reproduce:
    "{{ python }}" -m tests.packaging.building reproduce

# the wheel and its locked requirements in an empty environment, from the registry: packages and what weighs
install-size:
    "{{ python }}" -m tests.packaging.fresh

# whether every base dependency has a wheel for every platform and Python
wheels-everywhere:
    "{{ python }}" -m tests.packaging.wheels

# Dockerfile, Compose file, chart and workflows by their own linters; tools come from requirements/release.txt
lint-deploy:
    "{{ python }}" -m tests.packaging.linting

# the image's program as a container would run it, without a container engine; as root
trial-container:
    "{{ python }}" -m tests.packaging.contained

# bill of materials (CycloneDX) of the base install in dist/
sbom *dir:
    "{{ python }}" -m tests.packaging.materials "$@"

# whether package, changelog, chart and image name the same version: just release-check 0.2.0
release-check *version:
    "{{ python }}" -m tests.packaging.releasing check "$@"

# upgrade stores of every schema there was, on both engines
soak-upgrades *args:
    CODEXMEM_UPGRADE_TESTS_WHOLE=1 "{{ python }}" -m pytest tests/store/test_upgrading.py "$@"
