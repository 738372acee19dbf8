"""What can be known of the files to deploy and release by without a container engine, a cluster or a forge.

`python -m tests.packaging.linting` runs hadolint on the Dockerfile, the Compose specification's schema and yamllint on
the Compose file, `helm lint` on the chart, renders the chart in several ways and compares what comes out with the
schemas of several Kubernetes versions, and runs zizmor and the schema of workflows on the workflows. The tools come
from `requirements/release.txt`, each file compared with its hash; nothing of it is in the environment of the tests.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.packaging.building import ROOT

TOOLS = ROOT / "requirements" / "release.txt"
CHART = ROOT / "deploy" / "helm" / "codexmem"
COMPOSE = ROOT / "deploy" / "compose" / "compose.yaml"
DOCKERFILE = ROOT / "deploy" / "container" / "Dockerfile"
PROMETHEUS = sorted((ROOT / "deploy" / "prometheus").glob("*.yaml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
KUBERNETES = ("1.27", "1.30", "1.34", "1.37")
YAML_RULES = (
    "{extends: default, rules: {line-length: {max: 120}, document-start: disable, truthy: {check-keys: false},"
    " comments: {min-spaces-from-content: 1}, braces: {max-spaces-inside: 0}}}"
)
# The ways in which the chart is rendered: every switch is on in one of them and off in another.
WAYS: Mapping[str, Sequence[str]] = {
    "postgres": ["secret.existing=mine"],
    "postgres, all of it": [
        "secret.settings.database_url=postgresql://u:p@db/codexmem", "server.autoscaling.enabled=true",
        "networkPolicy.enabled=true", "persistence.enabled=true", "settings.vector_backend=hybrid",
        "allowedHosts={memory.example.org}", "service.port=80", "networkPolicy.egress[0].ports[0].port=5432",
        "imagePullSecrets[0].name=pull", "podLabels.team=a", "strategy=RollingUpdate",
    ],
    "sqlite": ["mode=sqlite"],
    "sqlite, a volume that is there": [
        "mode=sqlite", "persistence.existingClaim=mine", "serviceAccount.create=false",
        "secret.settings.rerank_model=m",
    ],
}  # fmt: skip
REFUSED: Mapping[str, Sequence[str]] = {
    "mode postgres needs secret.existing": [],
    "mode must be one of": ["mode=mysql"],
    "Additional property sevrer is not allowed": ["sevrer.replicas=3", "secret.existing=mine"],
}


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    """One of the locked tools."""
    prefix = [sys.executable, "-m", "uv", "run", "--quiet", "--no-project", "--with-requirements", str(TOOLS)]
    return subprocess.run([*prefix, *command], cwd=ROOT, capture_output=True, text=True, check=False)


class Linting:
    """Remembers whether anything was found."""

    def __init__(self) -> None:
        self.found = False

    def check(self, what: str, *command: str) -> None:
        """Run a tool that ends with 0 if all is well."""
        done = tool(*command)
        self.say(what, done.returncode == 0, done.stdout + done.stderr)

    def say(self, what: str, good: bool, said: str) -> None:
        """One line, and what the tool said if it found something."""
        sys.stdout.write(f"{'ok  ' if good else 'FAIL'} {what}\n{'' if good else said}")
        sys.stdout.flush()
        self.found |= not good


def rendered(ways: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The chart with these values."""
    values = [word for way in ways for word in ("--set", way)]
    return tool("helm", "template", "trial", str(CHART), "--namespace", "memory", *values)


def main() -> int:
    """Everything; ends with 1 if anything was found."""
    lint = Linting()
    lint.check("hadolint: Dockerfile", "hadolint", str(DOCKERFILE))
    lint.check("schema: compose.yaml", "check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE))
    files = [str(path) for path in (*PROMETHEUS, COMPOSE, CHART / "values.yaml", CHART / "Chart.yaml", *WORKFLOWS)]
    lint.check("yamllint", "yamllint", "--strict", "-d", YAML_RULES, *files)
    if shutil.which("promtool"):  # comes with a distribution's Prometheus
        for what in (["config", "--syntax-only", "scrape.yaml"], ["rules", "rules.yaml"]):
            done = subprocess.run(
                ["promtool", "check", *what], cwd=PROMETHEUS[0].parent, capture_output=True, text=True, check=False
            )
            lint.say(f"promtool: {what[-1]}", done.returncode == 0, done.stdout + done.stderr)
    lint.check(
        "schema: values.schema.json", "check-jsonschema", "--check-metaschema", str(CHART / "values.schema.json")
    )
    for way, values in WAYS.items():
        options = [word for value in values for word in ("--set", value)]
        lint.check(f"helm lint: {way}", "helm", "lint", "--strict", "--quiet", str(CHART), *options)
        _validate(lint, way, values)
    for reason, values in REFUSED.items():
        done = rendered(values)
        lint.say(
            f"helm refuses: {' '.join(values) or 'no values'}",
            done.returncode != 0 and reason in done.stderr,
            done.stderr,
        )
    workflows = [str(path) for path in WORKFLOWS]
    lint.check("schema: workflows", "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    lint.check("zizmor: workflows", "zizmor", "--offline", "--no-progress", "--pedantic", *workflows)
    return 1 if lint.found else 0


def _validate(lint: Linting, way: str, values: Sequence[str]) -> None:
    done = rendered(values)
    if done.returncode != 0:
        lint.say(f"helm template: {way}", False, done.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rendered.yaml")
        file.write_text(done.stdout)
        kinds = done.stdout.count("\nkind: ")
        for version in KUBERNETES:
            lint.check(f"Kubernetes {version}: {way}, {kinds} objects",
                       "kubernetes-validate", "--strict", "--quiet", "-k", version, str(file))  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
