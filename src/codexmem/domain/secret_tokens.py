"""Secrets that give themselves away by how they begin: the tokens of some eighty services, as a table.

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
    ("anthropic", "sk-ant-", URL, 20, False),
    ("openrouter", "sk-or-v1-", HEX, 32, False),
    ("openai", "sk-proj-", URL, 20, False),
    ("openai", "sk-svcacct-", URL, 20, False),
    ("openai", "sk-admin-", URL, 20, False),
    ("openai", "sk-", WORD, 20, True),
    ("github", "ghp_", WORD, 30, False),
    ("github", "gho_", WORD, 30, False),
    ("github", "ghu_", WORD, 30, False),
    ("github", "ghs_", WORD, 30, False),
    ("github", "ghr_", WORD, 30, False),
    ("github", "github_pat_", WORD + "_", 22, False),
    ("gitlab", "glpat-", URL, 20, False),
    ("gitlab", "gldt-", URL, 20, False),
    ("gitlab", "glptt-", URL, 20, False),
    ("gitlab", "glrt-", URL, 20, False),
    ("gitlab", "glcbt-", URL, 20, False),
    ("gitlab", "glsoat-", URL, 20, False),
    ("gitlab", "glagent-", URL, 20, False),
    ("gitlab", "gloas-", URL, 20, False),
    ("bitbucket", "ATBB", WORD, 28, True),
    ("atlassian", "ATATT3", URL + "=", 40, False),
    ("aws", "AKIA", UPPER, 16, True),
    ("aws", "ASIA", UPPER, 16, True),
    ("aws", "ABIA", UPPER, 16, True),
    ("google", "AIza", URL, 35, False),
    ("google", "ya29.", DOTTED, 20, False),
    ("google", "GOCSPX-", URL, 20, False),
    ("alibaba", "LTAI", WORD, 12, True),
    ("tencent", "AKID", WORD, 28, True),
    ("digitalocean", "dop_v1_", HEX, 40, False),
    ("digitalocean", "doo_v1_", HEX, 40, False),
    ("digitalocean", "dor_v1_", HEX, 40, False),
    ("slack", "xoxb-", URL, 10, False),
    ("slack", "xoxp-", URL, 10, False),
    ("slack", "xoxa-", URL, 10, False),
    ("slack", "xoxr-", URL, 10, False),
    ("slack", "xoxs-", URL, 10, False),
    ("slack", "xoxe.", DOTTED, 10, False),
    ("slack", "xapp-", URL, 10, False),
    ("slack", "hooks.slack.com/services/", WORD + "/", 20, False),
    ("discord", "discord.com/api/webhooks/", URL + "/", 40, False),
    ("stripe", "sk_live_", WORD, 10, False),
    ("stripe", "sk_test_", WORD, 10, False),
    ("stripe", "rk_live_", WORD, 10, False),
    ("stripe", "rk_test_", WORD, 10, False),
    ("stripe", "whsec_", BASE64, 24, False),
    ("square", "sq0atp-", URL, 20, False),
    ("square", "sq0csp-", URL, 20, False),
    ("shopify", "shpat_", HEX, 32, False),
    ("shopify", "shpca_", HEX, 32, False),
    ("shopify", "shppa_", HEX, 32, False),
    ("shopify", "shpss_", HEX, 32, False),
    ("npm", "npm_", WORD, 36, False),
    ("pypi", "pypi-", URL, 50, False),
    ("rubygems", "rubygems_", HEX, 40, False),
    ("crates", "cio", WORD, 32, True),
    ("docker", "dckr_pat_", URL, 20, False),
    ("huggingface", "hf_", WORD, 30, True),
    ("replicate", "r8_", WORD, 30, True),
    ("groq", "gsk_", WORD, 40, True),
    ("perplexity", "pplx-", WORD, 40, False),
    ("xai", "xai-", WORD, 60, True),
    ("nvidia", "nvapi-", URL, 40, False),
    ("fireworks", "fw_", WORD, 22, True),
    ("langsmith", "lsv2_", WORD + "_", 32, False),
    ("pinecone", "pcsk_", WORD + "_", 40, False),
    ("databricks", "dapi", HEX, 32, True),
    ("sendgrid", "SG.", DOTTED, 60, True),
    ("mailgun", "key-", HEX, 32, True),
    ("brevo", "xkeysib-", HEX + "-", 60, False),
    ("twilio", "SK", HEX, 32, True),
    ("linear", "lin_api_", WORD, 30, False),
    ("notion", "ntn_", WORD, 40, False),
    ("notion", "secret_", WORD, 43, True),
    ("figma", "figd_", URL, 40, False),
    ("postman", "PMAK-", HEX + "-", 50, False),
    ("doppler", "dp.pt.", WORD, 40, False),
    ("vault", "hvs.", URL, 24, False),
    ("vault", "hvb.", URL, 24, False),
    ("netlify", "nfp_", WORD, 36, False),
    ("supabase", "sbp_", HEX, 40, False),
    ("planetscale", "pscale_", URL + ".", 32, False),
    ("newrelic", "NRAK-", UPPER, 27, False),
    ("sentry", "sntrys_", BASE64 + "_", 40, False),
    ("sentry", "sntryu_", HEX, 40, False),
    ("grafana", "glsa_", WORD + "_", 32, False),
    ("grafana", "glc_", BASE64, 32, False),
    ("dynatrace", "dt0c01.", UPPER + ".", 60, False),
    ("tailscale", "tskey-", URL, 20, False),
    ("pulumi", "pul-", HEX, 40, True),
    ("sourcegraph", "sgp_", WORD + "_", 40, False),
    ("heroku", "HRKU-", URL, 30, False),
    ("buildkite", "bkua_", HEX, 40, False),
    ("circleci", "CCIPAT_", WORD + "_", 40, False),
    ("contentful", "CFPAT-", URL, 40, False),
    ("artifactory", "AKCp", WORD, 60, True),
    ("age", "AGE-SECRET-KEY-1", UPPER, 50, False),
    ("azure", "AccountKey=", BASE64, 40, False),
    ("azure", "SharedAccessKey=", BASE64, 40, False),
    ("azure", "sig=", WORD + "%+/", 40, True),
)
_GAP = " \t\r\n\\\"'+"  # what stands between the halves of a token that was wrapped or put together from two strings
_GAP_MOST = 24
_PIECES = 3


def found_in(text: str) -> list[int]:
    """Which rows of the table can match at all; cheap enough to ask of everything."""
    return [row for row, token in enumerate(TOKENS) if token[1] in text]


def spans(text: str, rows: Iterable[int]) -> Iterator[Span]:
    """The tokens of these rows."""
    for row in rows:
        kind, beginning, alphabet, least, apart = TOKENS[row]
        at = text.find(beginning)
        while at >= 0:
            end = place = at + len(beginning)
            if apart:
                if stands_apart(text, at) and run(text, place, alphabet, least) == least:
                    end = run_end(text, place, alphabet)
                    if has_digit(text[place:end]):
                        yield at, end, kind
            elif (whole := _end(text, place, alphabet, least)) > 0:
                end = whole
                yield at, end, kind
            at = text.find(beginning, end)


def _end(text: str, place: int, alphabet: str, least: int) -> int:
    """Where the token ends, or -1 if it is too short; it may be in pieces, on several lines or in several strings."""
    got = run(text, place, alphabet, least)
    reached = run_end(text, place + got, alphabet) if got == least else place + got
    for _ in range(_PIECES):
        gap = run(text, reached, _GAP, _GAP_MOST)
        between = text[reached : reached + gap]
        if got < 4 or gap == _GAP_MOST or not ("\n" in between or "+" in between):
            break
        stop = run_end(text, reached + gap, alphabet)
        piece = text[reached + gap : stop]
        # What follows a whole token may be the next line of anything, so it must look as random as the token does.
        if not piece or (got >= least and not (len(piece) >= 8 and _is_random(piece))):
            break
        got, reached = got + len(piece), stop
    return reached if got >= least else -1


def _is_random(piece: str) -> bool:
    return has_digit(piece) and piece.lower() != piece != piece.upper()


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
