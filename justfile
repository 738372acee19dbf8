# Every task of the project, by group. Bare `just` says what to run first; `just --list` shows all.

set positional-arguments

python := justfile_directory() / ".venv/bin/python"

# Whatever the caller has set: tests and the programs they start are compiled once, not by each of them.
export PYTHONDONTWRITEBYTECODE := ""

[private]
default:
    @echo "First    just setup --light   once: .venv with the project; needs no root, apt or Node"
    @echo "Commit   just smoke           lint, types, unit tests near the change, one journey; a minute"
    @echo "Push     just gate            .ci/run: is the product broken? at most ten minutes"
    @echo "Now and then: just full       everything there is; writes build/full.txt, blocks nothing"
    @echo "Changed commands, settings, endpoints, locks or figures: just generated"
    @echo "More     just --list --group measure, just --list --group 'long runs'"
    @"{{ just_executable() }}" --justfile "{{ justfile() }}" --list --unsorted --list-heading "" \
        --group start --group tests --group generated --group web --group docs --group agents --group release

# make .venv from the locks and install the project into it; --light: no root, apt or Node
[group('start')]
setup *args:
    .ci/run --setup-only "$@"

# the gate, before a push: is the product broken? at most ten minutes on two quiet cores
[group('start')]
gate *args:
    .ci/run "$@"

# check style and format
[group('start')]
lint:
    "{{ python }}" -m ruff check .
    "{{ python }}" -m ruff format --check .

# write what `lint` only checks
[group('start')]
fix:
    "{{ python }}" -m ruff check --fix .
    "{{ python }}" -m ruff format .

# check types, strictly
[group('start')]
types:
    "{{ python }}" -m mypy

# before a commit: lint and types of the change, unit tests that import it, one journey; a minute
[group('start')]
smoke: lint-changed
    #!/usr/bin/env bash
    set -euo pipefail
    cd "{{ justfile_directory() }}"
    # One core judges types while the other tests; mypy remembers what it has judged.
    "{{ python }}" -m mypy & types=$!
    trap 'kill $types 2>/dev/null || true' EXIT
    mapfile -t near < <("{{ python }}" -m tests._support.changes tests)
    if [ "${#near[@]}" -gt 0 ]; then
        # 5: the tests near the change are none that start nothing
        "{{ python }}" -m pytest -q -m "unit and not slow and not full" "${near[@]}" || [ $? = 5 ]
    fi
    "{{ python }}" -m pytest -q tests/stories/test_journey.py
    wait "$types"

# lint of changed files, types, and all quick unit tests; arguments go to pytest
[group('start')]
quick *args: lint-changed
    #!/usr/bin/env bash
    set -euo pipefail
    cd "{{ justfile_directory() }}"
    "{{ python }}" -m mypy & types=$!
    trap 'kill $types 2>/dev/null || true' EXIT
    "{{ python }}" -m pytest -m "unit and not slow and not full" -n 2 --dist worksteal "$@"
    wait "$types"

# everything there is, in random order, then what only a quiet machine shows; writes build/full.txt
[group('start')]
full *args:
    #!/usr/bin/env bash
    set -uo pipefail
    cd "{{ justfile_directory() }}"
    .ci/run --setup-only || exit
    mkdir -p build
    {
        git log -1 --format='%H %s'
        "{{ python }}" -m pytest -p randomly -n 2 --dist worksteal -m "not timing" "$@"; everything=$?
        "{{ python }}" -m pytest -m timing "$@"; timed=$?
        echo "ended with $everything, and with $timed where time is measured"
    } 2>&1 | tee build/full.txt
    grep -q '^ended with 0, and with 0 ' build/full.txt

[private]
lint-changed:
    #!/usr/bin/env bash
    set -euo pipefail
    cd "{{ justfile_directory() }}"
    mapfile -t changed < <("{{ python }}" -m tests._support.changes python)
    if [ "${#changed[@]}" -gt 0 ]; then
        "{{ python }}" -m ruff check "${changed[@]}"
        "{{ python }}" -m ruff format --check "${changed[@]}"
    fi

# all tests, or those that the arguments choose; they go to pytest
[group('tests')]
test *args:
    "{{ python }}" -m pytest "$@"

# tests that need no PostgreSQL
[group('tests')]
test-sqlite *args:
    "{{ python }}" -m pytest -m "not postgresql" "$@"

# attacks by remembered text; a number chooses how many for each place
[group('tests')]
poisoning *args:
    "{{ python }}" -m tests.poisoning "$@"

# tests that need PostgreSQL
[group('tests')]
test-postgres *args:
    "{{ python }}" -m pytest -m postgresql "$@"

# write everything that is made from code, locks or kept figures; --check compares
[group('generated')]
generated *args:
    @"{{ python }}" -m tests.generated "$@"

# pin every dependency with its hashes; --upgrade takes newer versions
[group('generated')]
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

# pin the agents and the issuer that tests drive, after a change in package.json
[group('generated')]
lock-agents:
    "{{ python }}" -m tests.agents.installation lock
    "{{ python }}" -m tests.issuer.provider lock

# from `pip install` to a recalled memory with four real agents, and back; in seconds
[group('agents')]
first-minute:
    "{{ python }}" -m tests.agents.first_minute

# record real agents under mem-codecli for the tests that play recordings
[group('agents')]
record-agents *names:
    "{{ python }}" -m tests.agents.recordings "$@"

# write the model request in docs/agents.md from two real sessions
[group('agents')]
agents-example:
    "{{ python }}" -m tests.agents.example

# what the project weighs, beside its budgets and goals; --lower writes less where there is less
[group('measure')]
house *args:
    @"{{ python }}" -m tests.architecture.budget "$@"

# count what four journeys touch
[group('measure')]
journeys *args:
    "{{ python }}" -m bench.journeys "$@"

# history against a plain model, 20,000 sequences per engine
[group('long runs')]
soak-history *args:
    "{{ python }}" -m bench.history "$@"

# every act on every kind of memory against a plain model, 20,000 sequences per engine
[group('long runs')]
soak-lives *args:
    "{{ python }}" -m bench.lives "$@"

# the tools on notes against a plain model, 2,000 sequences per engine
[group('long runs')]
soak-notes *args:
    "{{ python }}" -m bench.notes "$@"

# random edits of files and memories, 10,000 sequences per engine: none lost
[group('long runs')]
soak-sync *args:
    "{{ python }}" -m bench.sync "$@"

# SIGKILL under load, with a ledger of acknowledged writes
[group('long runs')]
soak-kill *args:
    "{{ python }}" -m bench.kill "$@"

# remove the write-ahead log under a server: nothing acknowledged is lost
[group('long runs')]
soak-removed-log *args:
    "{{ python }}" -m bench.removed_log "$@"

# move tenants between three clusters under load and kill the mover at every step
[group('long runs')]
soak-tenant-moves *args:
    "{{ python }}" -m bench.tenant_moves "$@"

# a thousand tenants on several servers, one of them killed every five seconds
[group('long runs')]
soak-many-tenants *args:
    "{{ python }}" -m bench.many_tenants "$@"

# promote a synchronous standby while clients write; --patroni: it does so by itself
[group('long runs')]
soak-failover *args:
    "{{ python }}" -m bench.failover "$@"

# the queue: backlog, crashes of workers, lanes
[group('long runs')]
soak-queue *args:
    "{{ python }}" -m bench.queue "$@"

# 100,000 queries of every sort on each engine: none may raise
[group('long runs')]
soak-queries *args:
    "{{ python }}" -m bench.queries "$@"

# search while Chroma is killed and the embedding server goes away
[group('long runs')]
soak-storm *args:
    "{{ python }}" -m bench.storm "$@"

# live readers that take nothing, while the log grows by 100,000 events
[group('long runs')]
soak-streams *args:
    "{{ python }}" -m bench.streams "$@"

# 10,000 extractions, half of the model's answers failing: each ends, once
[group('long runs')]
soak-extraction *args:
    "{{ python }}" -m bench.extraction_faults "$@"

# 20,000 consolidations at random, each taken back exactly
[group('long runs')]
soak-consolidation *args:
    "{{ python }}" -m bench.consolidation "$@"

# import 1,000 sessions beside live hooks, kill it 20 times, undo it: --data DIR
[group('long runs')]
soak-import *args:
    "{{ python }}" -m bench.transcripts "$@"

# 10,000 hook events while the server is killed: none lost, none twice
[group('long runs')]
soak-hooks *args:
    "{{ python }}" -m bench.hook_storm "$@"

# your own Codex, Claude Code, Qwen Code, Gemini CLI and OpenCode as models
[group('long runs')]
soak-authors *args:
    "{{ python }}" -m tests.agents.authors "$@"

# every writer in both languages: nothing leaves the machine before somebody agrees
[group('long runs')]
soak-consent *args:
    CODEXMEM_CONSENT_TESTS_WHOLE=1 CODEXMEM_TEST_FORK=0 "{{ python }}" -m pytest tests/cli/test_consent.py "$@"

# read what five real agents keep of a conversation, beside what hooks report
[group('long runs')]
soak-transcripts *args:
    "{{ python }}" -m tests.agents.transcripts "$@"

# the knowledge interface against a plain model, 2,000 sequences per engine
[group('long runs')]
soak-knowledge *args:
    "{{ python }}" -m bench.knowledge "$@"

# 10,000 hostile names and paths: nothing outside is touched
[group('long runs')]
soak-hostile *args:
    "{{ python }}" -m bench.hostile_paths "$@"

# 1,000 backups under load and 200 killed restores per engine
[group('long runs')]
soak-snapshots *args:
    "{{ python }}" -m bench.snapshots "$@"

# damage an audit log of 100,000 rows in 1,000 ways: each is found
[group('long runs')]
soak-audit *args:
    "{{ python }}" -m bench.audit_harm "$@"

# 200 SIGKILLs per engine while batches run: no call untraced, no event lost
[group('long runs')]
soak-lab-kills *args:
    "{{ python }}" -m bench.lab_kills "$@"

# roll a learning back exactly, 20,000 sequences per engine
[group('long runs')]
soak-lab-rollback *args:
    "{{ python }}" -m bench.lab_rollback "$@"

# requests made from the lab's description, ten minutes per engine: no server error
[group('long runs')]
soak-schemathesis *args:
    "{{ python }}" -m bench.lab_schema "$@"

# build the documentation site, strictly, in build/docs/site
[group('docs')]
docs:
    "{{ python }}" -m tests.docs.building

# build it and show it on http://127.0.0.1:8000 until Ctrl-C
[group('docs')]
docs-serve:
    "{{ python }}" -m tests.docs.building serve

# record the terminal session of the README in both languages, with real Codex
[group('docs')]
record-terminal:
    "{{ python }}" -m tests.docs.recording

# check, install, use and remove every plugin with the real program; names choose
[group('agents')]
try-plugins *names:
    "{{ python }}" -m tests.agents.plugins "$@"

# install, use and clean the agents that tests do not have; names choose
[group('agents')]
try-agents *names:
    "{{ python }}" -m tests.agents.installed "$@"

# build the web application where the server finds it
[group('web')]
web:
    "{{ python }}" -m tests.web.building

# test the web application in Chromium; arguments go to pytest
[group('web')]
test-web *args:
    "{{ python }}" -m pytest -m browser "$@"

# every test of the web application in both languages, axe in both themes
[group('long runs')]
soak-web *args:
    CODEXMEM_WEB_TESTS_WHOLE=1 "{{ python }}" -m pytest -m browser "$@"

# take pictures of every page in web/screenshots; names choose
[group('web')]
screenshots *names:
    "{{ python }}" -m tests.web.shots "$@"

# compare twelve pages with kept pictures; --all looks, --write keeps new ones
[group('web')]
pictures *args:
    "{{ python }}" -m tests.web.pictures "$@"

# 100 script-injection texts in every field that a page shows: none runs
[group('long runs')]
soak-hostile-pages *args:
    "{{ python }}" -m bench.hostile_pages "$@"

# the lab's queue: turns between batches, cancelling 500 runs, pages of a long trace
[group('measure')]
bench-lab-queue *args:
    "{{ python }}" -m bench.lab_queue "$@"

# a trace of 100,000 events in Chromium: rows, and time of each interaction
[group('measure')]
bench-web-trace *args:
    "{{ python }}" -m bench.web_trace "$@"

# whether memories of changed files are marked between two releases, and its cost
[group('measure')]
bench-staleness *args:
    "{{ python }}" -m bench.staleness "$@"

# every wait of a person or an agent; --write keeps it in docs/performance.json
[group('measure')]
bench *args:
    "{{ python }}" -m bench.performance "$@"

# wall time of a hook beside that of Python itself
[group('measure')]
bench-hook *args:
    "{{ python }}" -m bench.hook_time "$@"

# what the wrapper costs an agent that prints 100 MB
[group('measure')]
bench-passthrough *args:
    "{{ python }}" -m bench.passthrough "$@"

# write rate beside bare commits
[group('measure')]
bench-writes *args:
    "{{ python }}" -m bench.writes "$@"

# reads and lists at 10,000 and 1,000,000 memories
[group('measure')]
bench-scale *args:
    "{{ python }}" -m bench.scale "$@"

# search by meaning in large scopes: speed and recall
[group('measure')]
bench-vectors *args:
    "{{ python }}" -m bench.vectors "$@"

# search beside its bare queries, at 10,000, 100,000 and 1,000,000 memories
[group('measure')]
bench-search *args:
    "{{ python }}" -m bench.search_latency "$@"

# a server on a large store: ready, idle, searches and prompts
[group('measure')]
bench-large *args:
    "{{ python }}" -m bench.large "$@"

# draw where the processor's time of a wait goes
[group('measure')]
bench-flame *args:
    "{{ python }}" -m bench.flame "$@"

# searches by sixteen clients at once, with the shipped encoder
[group('measure')]
bench-clients *args:
    "{{ python }}" -m bench.search_clients "$@"

# time and bytes of an event, a memory and a search on PostgreSQL; --write keeps them
[group('measure')]
bench-costs *args:
    "{{ python }}" -m bench.unit_costs "$@"

# hardware for a number of developers; --inputs FILE
[group('measure')]
bench-growth *args:
    "{{ python }}" -m bench.growth "$@"

# other memories beside ours: --environments DIR --data DIR; --systems, --texts choose
[group('measure')]
bench-others *args:
    "{{ python }}" -m bench.others "$@"

# tenants interleaved on one pooled connection
[group('measure')]
bench-tenants *args:
    "{{ python }}" -m bench.tenants "$@"

# what rights by project cost
[group('measure')]
bench-rights *args:
    "{{ python }}" -m bench.project_rights "$@"

# a busy tenant beside quiet ones, a frozen database, a revoked key
[group('measure')]
bench-fairness *args:
    "{{ python }}" -m bench.fairness "$@"

# what is answered though nothing fits: --data DIR [--embedder local] [--fit]
[group('measure')]
bench-relevance *args:
    "{{ python }}" -m bench.relevance "$@"

# how well recall finds, on question sets: --data DIR
[group('measure')]
bench-retrieval *args:
    "{{ python }}" -m bench.retrieval "$@"

# whether decisions of earlier chats reach an agent's first request: --data DIR
[group('measure')]
bench-delivery *args:
    "{{ python }}" -m bench.delivery "$@"

# whether the commit that decided a rule reaches the first request: --data DIR
[group('measure')]
bench-git-history *args:
    "{{ python }}" -m bench.git_history "$@"

# how often real agents must be corrected, with and without us: --data DIR [--sample N]
[group('measure')]
bench-effect *args:
    "{{ python }}" -m bench.corrections "$@"

# what real coding sessions are handed, and what is answered about them: --data DIR
[group('measure')]
bench-coding *args:
    "{{ python }}" -m bench.coding "$@"

# what an author is shown of real sessions, and its cost: --data DIR
[group('measure')]
bench-author *args:
    "{{ python }}" -m bench.author "$@"

# answers of a model with invented facts: what is stored of them
[group('measure')]
bench-claims *args:
    "{{ python }}" -m bench.claims "$@"

# strangers' prompts, small talk and nonsense at every interface: --data DIR
[group('measure')]
bench-noise *args:
    "{{ python }}" -m bench.noise "$@"

# whether facts of a month of invented work reach the sessions that need them
[group('measure')]
bench-month *args:
    "{{ python }}" -m bench.month "$@"

# whether the preview of the context is what an agent gets, on random stores
[group('measure')]
bench-preview *args:
    "{{ python }}" -m bench.preview "$@"

# whether a request brings the notes it names and no others: --data DIR
[group('measure')]
bench-precision *args:
    "{{ python }}" -m bench.precision "$@"

# whether both engines give the same first ten results: --data DIR
[group('measure')]
bench-agreement *args:
    "{{ python }}" -m bench.agreement "$@"

# fit weights and calibration of the default recipe: --data DIR --store DIR
[group('measure')]
fit-recipe *args:
    "{{ python }}" -m bench.fit "$@"

# a sample of what recall missed, by cause: --data DIR --suite NAME
[group('measure')]
bench-misses *args:
    "{{ python }}" -m bench.misses "$@"

# tests of all contracts on both engines; --encoder on|off, --pooler: by PgBouncer
[group('tests')]
contracts *args:
    "{{ python }}" -m tests.contracts "$@"

# what answers gain by learning from signals that are partly wrong
[group('measure')]
bench-qa-loop *args:
    "{{ python }}" -m bench.qa_loop "$@"

# recall of secrets by provider and context, and false alarms, beside Kingfisher
[group('measure')]
bench-secrets *args:
    "{{ python }}" -m bench.secrets "$@"

# how many events are captured in a second
[group('measure')]
bench-capture *args:
    "{{ python }}" -m bench.capture "$@"

# how quick four pages are in Chromium, beside a bare page of the same server
[group('measure')]
bench-web *args:
    "{{ python }}" -m bench.web "$@"

# a timeline of 100,000 memories in Chromium: rows, keys and clicks
[group('measure')]
bench-web-scroll *args:
    "{{ python }}" -m bench.web_scroll "$@"

# run the tests of langgraph-checkpoint and openai-agents on the client's adapters
[group('agents')]
try-adapters *args:
    "{{ python }}" -m tests.client.upstream "$@"

# build wheel and source distribution, with the web application, in dist/
[group('release')]
build:
    "{{ python }}" -m tests.packaging.building

# build the last commit twice, in two clones: all hashes are equal
[group('release')]
reproduce:
    "{{ python }}" -m tests.packaging.building reproduce

# install the wheel and its lock into an empty environment: packages and bytes
[group('release')]
install-size:
    "{{ python }}" -m tests.packaging.fresh

# whether every base dependency has a wheel for every platform and Python
[group('release')]
wheels-everywhere:
    "{{ python }}" -m tests.packaging.wheels

# check Dockerfile, Compose file, chart and workflows by their own linters
[group('release')]
lint-deploy:
    "{{ python }}" -m tests.packaging.linting

# run the image's program as a container would, without an engine; as root
[group('release')]
trial-container:
    "{{ python }}" -m tests.packaging.contained

# bill of materials (CycloneDX) of the base install in dist/
[group('release')]
sbom *dir:
    "{{ python }}" -m tests.packaging.materials "$@"

# whether package, changelog, chart and image name the same version
[group('release')]
release-check *version:
    "{{ python }}" -m tests.packaging.releasing check "$@"

# upgrade stores of every schema there was, on both engines
[group('long runs')]
soak-upgrades *args:
    CODEXMEM_UPGRADE_TESTS_WHOLE=1 "{{ python }}" -m pytest tests/store/test_upgrading.py "$@"
