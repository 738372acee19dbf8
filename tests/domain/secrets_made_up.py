"""Made-up secrets of every kind, and the places in which they turn up. None was ever valid."""

from __future__ import annotations

import random
import string

_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "u": string.ascii_letters + string.digits + "-_",
    "h": "0123456789abcdef",
    "A": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
}

# kind, shape: {alphabet letter:count} stands for so many random characters
SHAPES: tuple[tuple[str, str], ...] = (
    ("anthropic", "sk-ant-api03-{u:93}"),
    ("openai", "sk-{w:48}"),
    ("openai", "sk-proj-{u:120}"),
    ("openai", "sk-svcacct-{u:60}"),
    ("openrouter", "sk-or-v1-{h:64}"),
    ("github", "ghp_{w:36}"),
    ("github", "gho_{w:36}"),
    ("github", "ghs_{w:36}"),
    ("github", "github_pat_{w:22}_{w:59}"),
    ("gitlab", "glpat-{u:20}"),
    ("gitlab", "glrt-{u:20}"),
    ("atlassian", "ATATT3xFfGF0{u:170}"),
    ("bitbucket", "ATBB{w:32}"),
    ("aws", "AKIA{A:16}"),
    ("google", "AIza{u:35}"),
    ("google", "ya29.{u:80}"),
    ("google", "GOCSPX-{u:28}"),
    ("alibaba", "LTAI{w:20}"),
    ("tencent", "AKID{w:32}"),
    ("digitalocean", "dop_v1_{h:64}"),
    ("slack", "xoxb-{d:12}-{d:12}-{w:24}"),
    ("slack", "xapp-1-{A:11}-{d:12}-{h:64}"),
    ("slack", "https://hooks.slack.com/services/T{A:8}/B{A:8}/{w:24}"),
    ("discord", "https://discord.com/api/webhooks/{d:18}/{u:68}"),
    ("stripe", "sk_live_{w:24}"),
    ("stripe", "rk_test_{w:24}"),
    ("stripe", "whsec_{w:32}"),
    ("square", "sq0atp-{u:22}"),
    ("shopify", "shpat_{h:32}"),
    ("npm", "npm_{w:36}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{u:150}"),
    ("rubygems", "rubygems_{h:48}"),
    ("docker", "dckr_pat_{u:27}"),
    ("huggingface", "hf_{w:34}"),
    ("replicate", "r8_{w:37}"),
    ("groq", "gsk_{w:52}"),
    ("perplexity", "pplx-{w:48}"),
    ("xai", "xai-{w:80}"),
    ("nvidia", "nvapi-{u:64}"),
    ("langsmith", "lsv2_pt_{h:32}_{h:10}"),
    ("pinecone", "pcsk_{w:6}_{w:63}"),
    ("databricks", "dapi{h:32}"),
    ("sendgrid", "SG.{u:22}.{u:43}"),
    ("mailgun", "key-{h:32}"),
    ("twilio", "SK{h:32}"),
    ("linear", "lin_api_{w:40}"),
    ("notion", "ntn_{w:46}"),
    ("figma", "figd_{u:40}"),
    ("postman", "PMAK-{h:24}-{h:34}"),
    ("doppler", "dp.pt.{w:43}"),
    ("vault", "hvs.{u:90}"),
    ("supabase", "sbp_{h:40}"),
    ("newrelic", "NRAK-{A:27}"),
    ("sentry", "sntrys_{b:60}_{b:43}"),
    ("grafana", "glsa_{w:32}_{h:8}"),
    ("tailscale", "tskey-auth-{w:16}-{w:32}"),
    ("heroku", "HRKU-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    ("age", "AGE-SECRET-KEY-1{A:58}"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ{u:60}.{u:43}"),
    ("telegram", "{d:10}:AA{u:33}"),
    ("azure", "{w:3}8Q~{u:34}"),
    ("terraform", "{w:14}.atlasv1.{u:64}"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\n{b:64}\n{b:40}\n-----END RSA PRIVATE KEY-----"),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY-----\n{b:70}\n{b:70}\n-----END OPENSSH PRIVATE KEY-----"),
)

# where they turn up; {0} is the secret
CONTEXTS: tuple[str, ...] = (
    "{0}",
    "the key is {0} and that is it",
    "用这个 {0}，别告诉别人",
    "密钥：{0}",
    "export X={0}\nnext",
    'api = "{0}"',
    "api='{0}',",
    "`{0}`",
    "({0})",
    "[{0}]",
    "{{{0}}}",
    "<b>{0}</b>",
    "https://example.org/?k={0}&x=1",
    "$ curl -H 'X: {0}' https://example.org",
    '{{\\"k\\": \\"{0}\\"}}',
    "line one\\n{0}\\nline three",
    "k%3D{0}%26",
    "\x1b[31m{0}\x1b[0m",
    "| name | {0} |",
    "AAA\t{0}\tBBB",
    "   12→{0}",
)


def secret(shape: str, chance: random.Random) -> str:
    """One secret of this shape; there is a digit in each part long enough to have one."""
    made, rest = "", shape
    while "{" in rest:
        before, _, rest = rest.partition("{")
        inside, _, rest = rest.partition("}")
        alphabet, _, count = inside.partition(":")
        letters = [chance.choice(_ALPHABETS[alphabet]) for _ in range(int(count))]
        letters[len(letters) // 2] = chance.choice(string.digits)
        made += before + "".join(letters)
    return made + rest
