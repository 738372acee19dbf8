"""Secrets that give themselves away by how they begin: the tokens of some hundred services, as a table.

A token is a known beginning and then at least so many characters of one alphabet. That is all the table can say, so
that looking for it takes linear time: `str.find` for the beginning, `str.lstrip` for the length. A beginning that is
also part of ordinary words must stand apart and be followed by a digit somewhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Span = tuple[int, int, str]  # where a secret begins and ends, and its kind

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS
HEX = DIGITS + "abcdefABCDEF"
WORD = UPPER + "abcdefghijklmnopqrstuvwxyz"
URL = WORD + "-_"
DOTTED = URL + "."
BASE64 = WORD + "+/="

# kind, beginning, alphabet, at least so many, whether it must stand apart
TOKENS: tuple[tuple[str, str, str, int, bool], ...] = (
    # our own: API keys, sessions of browsers, attempts to sign in and the local token
    ("codexmem", "cmk_", HEX, 16, False),
    ("codexmem", "cms_", HEX, 16, False),
    ("codexmem", "cma_", HEX, 16, False),
    ("codexmem", "cmt_", HEX, 16, False),
    # models and what is built around them
    ("anthropic", "sk-ant-", URL, 20, False),
    ("openrouter", "sk-or-v1-", HEX, 32, False),
    ("langfuse", "sk-lf-", HEX + "-", 32, False),
    ("openai", "sk-proj-", URL, 20, False),
    ("openai", "sk-svcacct-", URL, 20, False),
    ("openai", "sk-admin-", URL, 20, False),
    ("openai", "sk-", WORD, 20, True),
    ("huggingface", "hf_", WORD, 30, True),
    ("replicate", "r8_", WORD, 30, True),
    ("groq", "gsk_", WORD, 40, True),
    ("perplexity", "pplx-", WORD, 40, False),
    ("xai", "xai-", URL, 60, True),
    ("nvidia", "nvapi-", URL, 40, False),
    ("fireworks", "fw_", WORD, 22, True),
    ("cerebras", "csk-", WORD, 40, True),
    ("together", "tgp_v1_", URL, 40, False),
    ("elevenlabs", "sk_", HEX, 48, True),
    ("voyage", "pa-", URL, 43, True),
    ("jina", "jina_", WORD, 50, False),
    ("tavily", "tvly-", URL, 24, False),
    ("firecrawl", "fc-", HEX, 32, True),
    ("e2b", "e2b_", HEX, 40, False),
    ("runpod", "rpa_", WORD, 40, True),
    ("langsmith", "lsv2_", WORD + "_", 32, False),
    ("pinecone", "pcsk_", WORD + "_", 40, False),
    ("databricks", "dapi", HEX, 32, True),
    # where code lives and is built
    ("github", "ghp_", WORD, 30, False),
    ("github", "gho_", WORD, 30, False),
    ("github", "ghu_", WORD, 30, False),
    ("github", "ghs_", WORD, 30, False),
    ("github", "ghr_", WORD, 30, False),
    ("github", "github_pat_", WORD + "_", 22, False),
    ("gitlab", "glpat-", DOTTED, 20, False),
    ("gitlab", "gldt-", URL, 20, False),
    ("gitlab", "glptt-", URL, 20, False),
    ("gitlab", "glrt-", DOTTED, 20, False),
    ("gitlab", "glcbt-", URL, 20, False),
    ("gitlab", "glsoat-", URL, 20, False),
    ("gitlab", "glagent-", URL, 20, False),
    ("gitlab", "gloas-", URL, 20, False),
    ("gitlab", "glimt-", URL, 20, False),
    ("bitbucket", "ATBB", WORD, 28, True),
    ("atlassian", "ATATT3", URL + "=", 40, False),
    ("npm", "npm_", WORD, 36, False),
    ("pypi", "pypi-", URL, 50, False),
    ("ionic", "ion_", WORD, 42, True),
    ("frameio", "fio-u-", URL, 60, False),
    ("sourcegraph", "slk_", HEX, 64, False),
    ("dependencytrack", "odt_", WORD, 32, True),
    ("stackhawk", "hawk.", DOTTED, 40, True),
    ("gitlab", "GR1348941", URL, 20, True),
    ("rubygems", "rubygems_", HEX, 40, False),
    ("crates", "cio", WORD, 32, True),
    ("nuget", "oy2", WORD, 43, True),
    ("clojars", "CLOJARS_", WORD, 50, False),
    ("docker", "dckr_pat_", URL, 20, False),
    ("docker", "dckr_oat_", URL, 20, False),
    ("artifactory", "AKCp", WORD, 60, True),
    ("artifactory", "cmVmdGtuO", WORD, 50, False),
    ("buildkite", "bkua_", HEX, 40, False),
    ("circleci", "CCIPAT_", WORD + "_", 40, False),
    ("sonar", "sqp_", HEX, 40, False),
    ("sonar", "squ_", HEX, 40, False),
    ("sonar", "sqa_", HEX, 40, False),
    ("sourcegraph", "sgp_", WORD + "_", 40, False),
    ("postman", "PMAK-", HEX + "-", 50, False),
    ("figma", "figd_", URL, 40, False),
    ("linear", "lin_api_", WORD, 30, False),
    ("linear", "lin_oauth_", HEX, 60, False),
    ("notion", "ntn_", WORD, 40, False),
    ("notion", "secret_", WORD, 43, True),
    ("airtable", "pat", WORD + ".", 79, True),
    ("readme", "rdme_", WORD, 60, False),
    ("typeform", "tfp_", URL + ".", 40, False),
    ("wakatime", "waka_", HEX + "-", 36, False),
    # clouds, databases and networks
    ("aws", "AKIA", UPPER, 16, True),
    ("aws", "ASIA", UPPER, 16, True),
    ("aws", "ABIA", UPPER, 16, True),
    ("aws", "ABSK", BASE64, 100, True),
    ("aws", "amzn.mws.", HEX + "-", 36, False),
    ("google", "AIza", URL, 35, False),
    ("google", "ya29.", DOTTED, 20, False),
    ("google", "GOCSPX-", URL, 20, False),
    ("google", "1//0", URL, 40, True),
    ("azure", "AccountKey=", BASE64, 40, False),
    ("azure", "SharedAccessKey=", BASE64, 40, False),
    ("azure", "sig=", BASE64 + "%", 40, True),
    ("alibaba", "LTAI", WORD, 12, True),
    ("tencent", "AKID", WORD, 28, True),
    ("volcengine", "AKLT", WORD, 40, True),
    ("baidu", "bce-v3/", WORD + "-/", 50, False),
    ("yandex", "AQVN", URL, 35, True),
    ("digitalocean", "dop_v1_", HEX, 40, False),
    ("digitalocean", "doo_v1_", HEX, 40, False),
    ("digitalocean", "dor_v1_", HEX, 40, False),
    ("cloudflare", "v1.0-", HEX + "-", 150, True),
    ("heroku", "HRKU-", URL, 30, False),
    ("fly", "fo1_", URL, 40, True),
    ("fly", "fm2_", BASE64, 80, True),
    ("render", "rnd_", WORD, 28, True),
    ("netlify", "nfp_", WORD, 36, False),
    ("supabase", "sbp_", HEX, 40, False),
    ("supabase", "sb_secret_", URL, 24, False),
    ("neon", "napi_", WORD, 50, False),
    ("planetscale", "pscale_", URL + ".", 32, False),
    ("clickhouse", "4b1d", WORD, 38, True),
    ("openshift", "sha256~", URL, 43, True),
    ("scalingo", "tk-us-", URL, 40, True),
    ("tailscale", "tskey-", URL, 20, False),
    ("pulumi", "pul-", HEX, 40, True),
    ("infracost", "ico-", WORD, 32, True),
    ("prefect", "pnu_", WORD, 36, False),
    ("vault", "hvs.", URL, 24, False),
    ("vault", "hvb.", URL, 24, False),
    ("doppler", "dp.pt.", WORD, 40, False),
    ("doppler", "dp.ct.", WORD, 40, False),
    ("doppler", "dp.st.", DOTTED, 40, False),
    ("doppler", "dp.sa.", WORD, 40, False),
    ("doppler", "dp.scim.", WORD, 40, False),
    ("doppler", "dp.audit.", WORD, 40, False),
    ("mongodb", "mdb_sa_sk_", URL, 40, False),
    ("adafruit", "aio_", WORD, 26, True),
    ("blynk", "oa2-client-id_", URL, 30, False),
    ("ubidots", "BBFF-", WORD, 30, True),
    ("pubnub", "pub-c-", HEX + "-", 36, False),
    ("pubnub", "sub-c-", HEX + "-", 36, False),
    ("1password", "ops_eyJ", BASE64, 100, False),
    ("private-key", "LS0tLS1CRUdJTi", BASE64, 60, True),
    ("age", "AGE-SECRET-KEY-1", UPPER, 50, False),
    # watching and sending
    ("newrelic", "NRAK-", UPPER, 27, False),
    ("sentry", "sntrys_", BASE64 + "_", 40, False),
    ("sentry", "sntryu_", HEX, 40, False),
    ("grafana", "glsa_", WORD + "_", 32, False),
    ("grafana", "glc_", BASE64, 32, False),
    ("dynatrace", "dt0c01.", UPPER + ".", 60, False),
    ("launchdarkly", "sdk-", HEX + "-", 36, True),
    ("posthog", "phx_", URL, 40, True),
    ("grafana", "eyJrIjoi", BASE64, 60, True),
    ("fullstory", "na1.", BASE64, 96, True),
    ("voiceflow", "VF.", DOTTED, 38, True),
    ("telnyx", "KEY0", WORD + "_", 50, True),
    ("teams", "outlook.office.com/webhook/", URL + "@/", 60, False),
    ("slack", "xoxb-", URL, 10, False),
    ("slack", "xoxp-", URL, 10, False),
    ("slack", "xoxa-", URL, 10, False),
    ("slack", "xoxr-", URL, 10, False),
    ("slack", "xoxs-", URL, 10, False),
    ("slack", "xoxc-", URL, 10, False),
    ("slack", "xoxe.", DOTTED, 10, False),
    ("slack", "xapp-", URL, 10, False),
    ("slack", "hooks.slack.com/services/", WORD + "/", 20, False),
    ("discord", "discord.com/api/webhooks/", URL + "/", 40, False),
    ("teams", "webhook.office.com/webhookb2/", URL + "@/", 60, False),
    ("feishu", "/open-apis/bot/v2/hook/", HEX + "-", 36, False),
    ("wecom", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", HEX + "-", 36, False),
    ("dingtalk", "oapi.dingtalk.com/robot/send?access_token=", HEX, 40, False),
    ("sendgrid", "SG.", DOTTED, 60, True),
    ("mailgun", "key-", HEX, 32, True),
    ("brevo", "xkeysib-", URL, 60, False),
    ("resend", "re_", WORD + "_", 30, True),
    ("twilio", "SK", HEX, 32, True),
    ("facebook", "EAA", WORD, 80, True),
    ("dropbox", "sl.", URL, 100, True),
    ("mapbox", "sk.eyJ", DOTTED, 60, True),
    ("hubspot", "pat-na1-", HEX + "-", 36, False),
    ("contentful", "CFPAT-", URL, 40, False),
    # money and trade
    ("stripe", "sk_live_", WORD, 10, False),
    ("stripe", "sk_test_", WORD, 10, False),
    ("stripe", "rk_live_", WORD, 10, False),
    ("stripe", "rk_test_", WORD, 10, False),
    ("stripe", "whsec_", BASE64, 24, False),
    ("square", "sq0atp-", URL, 20, False),
    ("square", "sq0idp-", URL, 20, False),
    ("square", "EAAA", URL, 56, True),
    ("pagarme", "ak_live_", WORD, 28, False),
    ("clickup", "pk_", UPPER + "_", 36, True),
    ("flexport", "shltm_", URL, 40, False),
    ("adobe", "p8e-", URL, 32, True),
    ("zoho", "1000.", HEX + ".", 60, True),
    ("teamwork", "tkn.v1_", BASE64, 70, False),
    ("password-hash", "$2a$", DOTTED + "/$", 50, False),
    ("password-hash", "$2b$", DOTTED + "/$", 50, False),
    ("password-hash", "$2y$", DOTTED + "/$", 50, False),
    ("password-hash", "$1$", DOTTED + "/$", 26, False),
    ("password-hash", "$8$", DOTTED + "/$", 50, False),
    ("password-hash", "$5$", DOTTED + "/$=", 40, False),
    ("password-hash", "$6$", DOTTED + "/$=", 80, False),
    ("password-hash", "$krb5asrep$23$", DOTTED + "@:$", 60, False),
    ("square", "sq0csp-", URL, 20, False),
    ("shopify", "shpat_", HEX, 32, False),
    ("shopify", "shpca_", HEX, 32, False),
    ("shopify", "shppa_", HEX, 32, False),
    ("shopify", "shpss_", HEX, 32, False),
    ("paypal", "access_token$production$", WORD + "$", 32, False),
    ("razorpay", "rzp_live_", WORD, 14, False),
    ("flutterwave", "FLWSECK", URL, 32, False),
    ("plaid", "access-sandbox-", HEX + "-", 36, False),
    ("plaid", "access-production-", HEX + "-", 36, False),
    ("shippo", "shippo_live_", HEX, 40, False),
    ("easypost", "EZAK", WORD, 54, True),
    ("duffel", "duffel_live_", URL, 40, False),
)
_GAP = " \t\r\n\\\"'+"  # what stands between the halves of a token that was wrapped or put together from two strings
_GAP_MOST = 24
_TELLING = 8  # characters, with the beginning, that the first piece of a token in pieces has
_PIECES = 3
_MANY_WORDS = 1024  # from this length on, looking at each word once is quicker
_LEAST_WORD = 6  # the shortest beginning with four characters behind it
_SHORTEST = min(len(beginning) + least for _, beginning, _, least, _ in TOKENS)
# Most beginnings end in a character that most words lack: looking for it first spares looking for each of them.
_BY_MARK = tuple(
    (mark, [row for row, token in enumerate(TOKENS) if token[1].rstrip("-_") + mark == token[1]])
    for mark in ("-", "_", "")
)


def found_in(text: str) -> list[int]:
    """Which rows of the table can match at all; cheap enough to ask of everything."""
    if len(text) < _SHORTEST:
        return []
    if len(text) > _MANY_WORDS:
        # No beginning has a space in it, so it is in the text if it is in one of its words; most words repeat.
        text = " ".join({word for word in text.split() if len(word) >= _LEAST_WORD})
    return sorted(row for mark, rows in _BY_MARK if mark in text for row in rows if TOKENS[row][1] in text)


def spans(text: str, rows: Iterable[int]) -> Iterator[Span]:
    """The tokens of these rows."""
    for row in rows:
        kind, beginning, alphabet, least, apart = TOKENS[row]
        at = text.find(beginning)
        while at >= 0:
            end = place = at + len(beginning)
            if not apart or stands_apart(text, at):
                reached, token = joined(text, place, alphabet, least, _TELLING - len(beginning))
                if reached > 0:
                    end = reached  # without a digit in it, no later part of it has one either
                    if not apart or has_digit(token):
                        yield at, end, kind
            at = text.find(beginning, end)


def joined(text: str, place: int, alphabet: str, least: int, first: int = 4) -> tuple[int, str]:
    """Where the run of the alphabet that begins here ends and what it is, or -1 if it is shorter than `least`.

    It may be in pieces, on several lines or in several strings that are put together; the first has at least `first`.
    """
    piece = text[place : place + least]
    got = len(piece) - len(piece.lstrip(alphabet))
    if got < first or not got:
        return -1, ""
    reached = run_end(text, place + got, alphabet) if got == least else place + got
    token = text[place:reached]
    for _ in range(_PIECES):
        gap = run(text, reached, _GAP, _GAP_MOST)
        if not gap or gap == _GAP_MOST:
            break
        between = text[reached : reached + gap]
        if "\n" not in between and "+" not in between:
            break
        stop = run_end(text, reached + gap, alphabet)
        piece = text[reached + gap : stop]
        # What follows a whole token may be the next line of anything, so it must look as random as the token does.
        if not piece or (len(token) >= least and not (len(piece) >= 8 and _is_random(piece))):
            break
        token, reached = token + piece, stop
    return (reached, token) if len(token) >= least else (-1, "")


def _is_random(piece: str) -> bool:
    digits = len(piece) - len(piece.translate(_NO_DIGITS))
    mixed = piece.lower() != piece != piece.upper()
    return digits > 0 and (mixed or (digits * 5 >= len(piece) and sum(map(str.isalpha, piece[:64])) > 2))


def run(text: str, place: int, alphabet: str, most: int) -> int:
    """How many characters of the alphabet stand here, counted up to `most`."""
    piece = text[place : place + most]
    return len(piece) - len(piece.lstrip(alphabet))


def run_end(text: str, place: int, alphabet: str) -> int:
    """Where the characters of the alphabet that stand here end."""
    while True:
        got = run(text, place, alphabet, 4096)
        place += got
        if got < 4096:
            return place


def has_digit(text: str) -> bool:
    """Whether there is a digit in it, as in nearly everything random."""
    return len(text) != len(text.translate(_NO_DIGITS))


_NO_DIGITS = dict.fromkeys(map(ord, DIGITS))


def stands_apart(text: str, at: int) -> bool:
    """Whether no word reaches into this place; the letter of an escape sequence is no word."""
    before = text[at - 1 : at]
    if not before or not before.isascii() or not (before.isalnum() or before == "_"):
        return True
    if before in "nrt" and text[at - 2 : at - 1] == "\\":
        return True
    if text[at - 3 : at - 2] == "%" or text[at - 6 : at - 4] == "\\u":
        return True
    return before == "m" and "\x1b[" in text[max(0, at - 8) : at]
