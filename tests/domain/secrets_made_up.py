"""Made-up secrets in the formats of their providers, and the places in which they turn up. None was ever valid."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote

_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "u": string.ascii_letters + string.digits + "-_",
    "l": string.ascii_lowercase + string.digits,
    "h": "0123456789abcdef",
    "A": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
}
_UUID = "{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"
LEFT = 8  # so many characters in a row of what is random in a secret, left in a text, are a leak


class Secret(NamedTuple):
    """A secret and the parts of it that nobody can guess."""

    text: str
    parts: tuple[str, ...]

    def is_left_in(self, text: str) -> bool:
        """Whether enough of it is still there to matter, as it is or behind escapes."""
        readings = {text, unquote(text), text.replace("\0", "")}
        windows = {part[at : at + LEFT] for part in self.parts for at in range(max(1, len(part) - LEFT + 1))}
        return any(window in reading for window in windows for reading in readings)


# kind, shape: {alphabet letter:count} stands for so many random characters
SHAPES: tuple[tuple[str, str], ...] = (
    ("codexmem", "cmk_{h:64}"),
    ("codexmem", "cmt_{h:64}"),
    ("anthropic", "sk-ant-api03-{u:93}AA"),
    ("openai", "sk-{w:48}"),
    ("openai", "sk-proj-{u:120}"),
    ("openai", "sk-svcacct-{u:60}"),
    ("openrouter", "sk-or-v1-{h:64}"),
    ("langfuse", f"sk-lf-{_UUID}"),
    ("huggingface", "hf_{w:34}"),
    ("replicate", "r8_{w:37}"),
    ("groq", "gsk_{w:52}"),
    ("perplexity", "pplx-{w:48}"),
    ("xai", "xai-{w:80}"),
    ("nvidia", "nvapi-{u:64}"),
    ("cerebras", "csk-{l:48}"),
    ("together", "tgp_v1_{u:43}"),
    ("elevenlabs", "sk_{h:48}"),
    ("voyage", "pa-{u:43}"),
    ("jina", "jina_{h:32}{w:28}"),
    ("tavily", "tvly-dev-{w:32}"),
    ("langsmith", "lsv2_pt_{h:32}_{h:10}"),
    ("pinecone", "pcsk_{w:6}_{w:63}"),
    ("databricks", "dapi{h:32}"),
    ("github", "ghp_{w:36}"),
    ("github", "gho_{w:36}"),
    ("github", "ghs_{w:36}"),
    ("github", "github_pat_{w:22}_{w:59}"),
    ("gitlab", "glpat-{u:20}"),
    ("gitlab", "glrt-{u:20}"),
    ("atlassian", "ATATT3xFfGF0{u:170}={A:8}"),
    ("bitbucket", "ATBB{w:32}"),
    ("npm", "npm_{w:36}"),
    ("doppler", "dp.ct.{w:43}"),
    ("doppler", "dp.st.prd.{w:43}"),
    ("doppler", "dp.scim.{w:43}"),
    ("adafruit", "aio_{w:28}"),
    ("posthog", "phx_{w:43}"),
    ("clickup", "pk_{d:8}_{A:32}"),
    ("mongodb", "mdb_sa_sk_{u:40}"),
    ("flexport", "shltm_{u:40}"),
    ("square", "sq0idp-{u:22}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{u:150}"),
    ("rubygems", "rubygems_{h:48}"),
    ("nuget", "oy2{l:43}"),
    ("clojars", "CLOJARS_{h:60}"),
    ("docker", "dckr_pat_{u:27}"),
    ("artifactory", "AKCp{w:69}"),
    ("buildkite", "bkua_{h:40}"),
    ("circleci", "CCIPAT_{w:22}_{h:40}"),
    ("sonar", "sqp_{h:40}"),
    ("sourcegraph", "sgp_{h:16}_{h:40}"),
    ("postman", "PMAK-{h:24}-{h:34}"),
    ("figma", "figd_{u:40}"),
    ("linear", "lin_api_{w:40}"),
    ("notion", "ntn_{w:46}"),
    ("airtable", "pat{w:14}.{h:64}"),
    ("readme", "rdme_{l:70}"),
    ("typeform", "tfp_{u:59}"),
    ("aws", "AKIA{A:16}"),
    ("google", "AIza{u:35}"),
    ("google", "ya29.{u:80}"),
    ("google", "GOCSPX-{u:28}"),
    ("azure", "{w:3}8Q~{u:34}"),
    ("azure", "AccountKey={b:86}=="),
    ("alibaba", "LTAI{w:20}"),
    ("tencent", "AKID{w:32}"),
    ("volcengine", "AKLT{w:43}"),
    ("baidu", "bce-v3/ALTAK-{w:21}/{h:40}"),
    ("digitalocean", "dop_v1_{h:64}"),
    ("cloudflare", "v1.0-{h:24}-{h:146}"),
    ("heroku", f"HRKU-{_UUID}"),
    ("fly", "fo1_{u:43}"),
    ("render", "rnd_{w:32}"),
    ("netlify", "nfp_{w:36}"),
    ("supabase", "sbp_{h:40}"),
    ("neon", "napi_{l:64}"),
    ("planetscale", "pscale_tkn_{u:43}"),
    ("openshift", "sha256~{u:43}"),
    ("tailscale", "tskey-auth-{w:16}-{w:32}"),
    ("pulumi", "pul-{h:40}"),
    ("infracost", "ico-{w:32}"),
    ("prefect", "pnu_{l:36}"),
    ("terraform", "{w:14}.atlasv1.{u:64}"),
    ("vault", "hvs.{u:90}"),
    ("doppler", "dp.pt.{w:43}"),
    ("1password", "ops_eyJ{b:252}"),
    ("age", "AGE-SECRET-KEY-1{A:58}"),
    ("newrelic", "NRAK-{A:27}"),
    ("sentry", "sntrys_{b:60}_{b:43}"),
    ("grafana", "glsa_{w:32}_{h:8}"),
    ("dynatrace", "dt0c01.{A:24}.{A:64}"),
    ("launchdarkly", f"sdk-{_UUID}"),
    ("posthog", "phx_{w:43}"),
    ("slack", "xoxb-{d:12}-{d:12}-{w:24}"),
    ("slack", "xapp-1-{A:11}-{d:12}-{h:64}"),
    ("slack", "https://hooks.slack.com/services/T{A:8}/B{A:8}/{w:24}"),
    ("discord", "https://discord.com/api/webhooks/{d:18}/{u:68}"),
    ("telegram", "{d:10}:AA{u:33}"),
    ("feishu", f"https://open.feishu.cn/open-apis/bot/v2/hook/{_UUID}"),
    ("wecom", f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={_UUID}"),
    ("dingtalk", "https://oapi.dingtalk.com/robot/send?access_token={h:64}"),
    ("sendgrid", "SG.{u:22}.{u:43}"),
    ("mailgun", "key-{h:32}"),
    ("mailchimp", "{h:32}-us{d:2}"),
    ("brevo", "xkeysib-{h:64}-{w:16}"),
    ("resend", "re_{w:8}_{w:24}"),
    ("twilio", "SK{h:32}"),
    ("facebook", "EAACEdEose0cBA{w:140}"),
    ("dropbox", "sl.{u:136}"),
    ("hubspot", f"pat-na1-{_UUID}"),
    ("contentful", "CFPAT-{u:43}"),
    ("stripe", "sk_live_{w:24}"),
    ("stripe", "rk_test_{w:24}"),
    ("stripe", "whsec_{w:32}"),
    ("square", "sq0atp-{u:22}"),
    ("shopify", "shpat_{h:32}"),
    ("paypal", "access_token$production${l:16}${h:32}"),
    ("razorpay", "rzp_live_{w:14}"),
    ("flutterwave", "FLWSECK-{h:32}-X"),
    ("plaid", f"access-sandbox-{_UUID}"),
    ("shippo", "shippo_live_{h:40}"),
    ("easypost", "EZAK{w:54}"),
    ("duffel", "duffel_live_{u:43}"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ{u:60}.{u:43}"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\n{b:64}\n{b:40}\n-----END RSA PRIVATE KEY-----"),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY-----\n{b:70}\n{b:70}\n-----END OPENSSH PRIVATE KEY-----"),
)


def made(shape: str, chance: random.Random) -> Secret:
    """One secret of this shape; there is a digit in each part long enough to have one."""
    text, parts, rest = "", [], shape
    while "{" in rest:
        before, _, rest = rest.partition("{")
        inside, _, rest = rest.partition("}")
        alphabet, _, count = inside.partition(":")
        letters = [chance.choice(_ALPHABETS[alphabet]) for _ in range(int(count))]
        letters[len(letters) // 2] = chance.choice(string.digits)
        parts.append("".join(letters))
        text += before + parts[-1]
    return Secret(text + rest, tuple(part for part in parts if len(part) >= LEFT) or tuple(parts))


def _wrapped(text: str) -> str:
    """Broken in the middle by whoever sets lines, and indented."""
    middle = max(12, len(text) // 2)
    return f"the value is {text[:middle]}\n    {text[middle:]}\nand that is all"


def _put_together(text: str) -> str:
    middle = max(12, len(text) // 2)
    return f'value = "{text[:middle]}" +\n        "{text[middle:]}";'.replace("\n-----", "\\n-----")


# where they turn up, without a label that would give them away
CONTEXTS: dict[str, Callable[[str], str]] = {
    "a line of a log": lambda it: f"2026-03-04T10:15:00Z ERROR client: request refused, {it} is not valid",
    "the environment": lambda it: f"export ACME={it}\nexport LANG=C",
    "a quoted variable": lambda it: f'ACME="{it}"\nDEBUG=1\n',
    "JSON": lambda it: json.dumps({"id": 7, "value": it, "on": True}),
    "JSON inside JSON": lambda it: json.dumps({"body": json.dumps({"value": it})}),
    "YAML": lambda it: f"service:\n  value: {it}\n  retries: 3\n",
    "TOML": lambda it: f"[service]\nvalue = '{it}'\n",
    "a header": lambda it: f"GET / HTTP/1.1\r\nX-Service: {it}\r\nAccept: */*\r\n",
    "an address": lambda it: f"https://api.example.org/v1?value={it}&page=2",
    "an encoded form": lambda it: f"a=1&value={quote(it, safe='')}&b=2",
    "source code": lambda it: f"client = Client({it!r}, retries=3)",
    "a diff": lambda it: "@@ -1,2 +1,2 @@\n-value = old\n+value = {}\n".format(it.replace("\n", "\n+")),
    "Markdown": lambda it: f"| name | value |\n|---|---|\n| acme | `{it}` |",
    "a Chinese sentence": lambda it: f"用这个就行：{it}，别外传。",
    "colours of a terminal": lambda it: f"\x1b[1;31m{it}\x1b[0m ok",
    "UTF-16 read as bytes": lambda it: f"value {it} end".encode("utf-16-le").decode("latin-1"),
    "a wrapped line": _wrapped,
    "two strings": _put_together,
    "XML": lambda it: f"<setting name='acme'><v>{it}</v></setting>",
    "a command": lambda it: f"$ curl -s -H 'X-Service: {it}' https://api.example.org | jq .",
}

# Providers whose keys have no telling form: only what stands before them gives them away.
LABELLED: tuple[tuple[str, str], ...] = (
    ("DD_API_KEY", "{h:32}"),
    ("CO_API_KEY", "{w:40}"),
    ("MISTRAL_API_KEY", "{w:32}"),
    ("AZURE_OPENAI_API_KEY", "{h:32}"),
    ("ALGOLIA_API_KEY", "{h:32}"),
    ("ZHIPUAI_API_KEY", "{h:32}.{w:16}"),
    ("aws_secret_access_key", "{b:40}"),
    ("twilio_key", "{h:32}"),
    ("bitbucket_key", "{w:32}"),
    ("NETLIFY_KEY", "{u:43}"),
    ("clockify-key", "{l:48}"),
    ("shodan.key", "{w:32}"),
    ("TWILIO_AUTH_TOKEN", "{h:32}"),
    ("DB_PASSWORD", "{w:12}"),
    ("client_secret", "{u:40}"),
    ("access_token", "{w:64}"),
    ("refreshToken", "{u:80}"),
    ("SECRET_KEY", "{w:50}"),
    ("wechat_app_secret", "{h:32}"),
    ("alipay_private_key", "{b:64}"),
    ("jenkins_api_token", "{h:34}"),
    ("encryption_key", "{b:44}"),
    ("redis_password", "{w:16}"),
    ("okta_token", "00{u:40}"),
    ("gitee_access_token", "{h:32}"),
    ("DISCORD_TOKEN", "MT{u:22}.G{u:5}.{u:38}"),
)
LABEL_CONTEXTS: dict[str, Callable[[str, str], str]] = {
    "the environment": lambda label, it: f"export {label}={it}\nexport LANG=C",
    "a quoted variable": lambda label, it: f'{label}="{it}"\nDEBUG=1\n',
    "JSON": lambda label, it: json.dumps({"id": 7, label: it, "on": True}),
    "JSON inside JSON": lambda label, it: json.dumps({"body": json.dumps({label: it})}),
    "YAML": lambda label, it: f"service:\n  {label}: {it}\n  retries: 3\n",
    "TOML": lambda label, it: f"[service]\n{label} = '{it}'\n",
    "an address": lambda label, it: f"https://api.example.org/v1?{label}={quote(it, safe='')}&page=2",
    "source code": lambda label, it: f"client = Client({label}={it!r}, retries=3)",
    "a diff": lambda label, it: f"-{label} = old\n+{label} = '{it}'\n",
    "a command": lambda label, it: f"$ docker run -e {label}={it} --rm image",
}
