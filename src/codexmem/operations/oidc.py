"""What we ask of an OpenID Connect issuer, and what we believe of its answers.

An ID token is believed when a key that the issuer publishes signed it by an asymmetric method, for us and for this
attempt, and it has not expired. Keys are remembered; an unknown one has them fetched anew once, and not again for half
a minute. No answer is followed elsewhere, and all of the issuer's addresses are encrypted or on this machine.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlencode, urlsplit

from codexmem.client import transport
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Forbidden, Unavailable
from codexmem.kernel.model.key_transport import may_carry_key

if TYPE_CHECKING:
    import jwt

# Never "none", and never a method whose key would be the client's secret or a public text.
SIGNATURES = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
PENDING = frozenset({"authorization_pending", "slow_down"})
_WELL_KNOWN = "/.well-known/openid-configuration"
_KNOWN_S = 3600.0  # how long the issuer's own description is believed
_TIMEOUT_S = 10.0
_LEEWAY_S = 60  # between its clock and ours
_SUBJECT_MAX = 255
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class SignInRefused(Forbidden):
    """Somebody may not sign in; `details["reason"]` says why."""

    def __init__(self, reason: str, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message, hint=hint, details={"reason": reason, **details})

    @property
    def reason(self) -> str:
        """Why, in one word."""
        return str(self.details["reason"])


@dataclass(frozen=True, slots=True)
class OidcClient:
    """How an issuer knows us."""

    issuer: str
    id: str
    secret: str = ""  # empty for a public client
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    group_claim: str = "groups"


class Issuer:
    """The issuer of a deployment; any thread may ask it."""

    def __init__(self, client: OidcClient) -> None:
        self.client = client
        self._lock = threading.Lock()
        self._known: tuple[float, Mapping[str, object]] | None = None
        self._keys: jwt.PyJWKClient | None = None

    def authorization_url(self, *, redirect: str, state: str, nonce: str, verifier: str) -> str:
        """Where a browser goes to sign in (RFC 6749 §4.1.1, RFC 7636)."""
        digest = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "response_type": "code", "client_id": self.client.id, "redirect_uri": redirect, "state": state,
            "nonce": nonce, "scope": " ".join(self.client.scopes), "code_challenge_method": "S256",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        }  # fmt: skip
        place = self._endpoint("authorization_endpoint")
        return f"{place}{'&' if urlsplit(place).query else '?'}{urlencode(asked)}"

    def redeem(
        self, code: str, *, redirect: str, verifier: str, nonce: str, said_by: str | None
    ) -> Mapping[str, object]:
        """The claims about whoever signed in, for the code that a browser brought from there.

        `said_by` is the issuer as the browser's address named it, which tells mixed-up issuers apart (RFC 9207).
        """
        promised = self._described().get("authorization_response_iss_parameter_supported") is True
        if said_by != self.client.issuer and (promised or said_by is not None):
            raise SignInRefused("issuer", "the answer came from another issuer")
        tokens = self._token({
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": verifier,
        })  # fmt: skip
        if "error" in tokens:
            raise SignInRefused("code", f"the issuer does not accept the code: {_word(tokens['error'])}")
        return self._claims(tokens, nonce)

    def begin_device(self) -> Mapping[str, object]:
        """A code for a person to type in elsewhere (RFC 8628 §3.2)."""
        answer = self._post("device_authorization_endpoint", {"scope": " ".join(self.client.scopes)})
        if "error" in answer or not all(isinstance(answer.get(name), str) for name in _DEVICE_FIELDS):
            raise SignInRefused("device", f"the issuer offers no sign-in by device: {_word(answer.get('error'))}")
        return answer

    def poll_device(self, device_code: str) -> Mapping[str, object] | str:
        """The claims about whoever has typed the code in, or the word for why there are none yet."""
        tokens = self._token({"grant_type": DEVICE_GRANT, "device_code": device_code})
        if (error := tokens.get("error")) in PENDING:
            return str(error)
        if error is not None:
            raise SignInRefused("code", f"the issuer does not accept the code: {_word(error)}")
        return self._claims(tokens, None)

    def _claims(self, tokens: Mapping[str, object], nonce: str | None) -> Mapping[str, object]:
        claims = self._verified(str(tokens.get("id_token", "")), nonce)
        if self.client.group_claim in claims or "userinfo_endpoint" not in self._described():
            return claims
        # Many issuers keep tokens small, and tell groups only here.
        more = self._ask("GET", self._endpoint("userinfo_endpoint"), None, {
            "Authorization": f"Bearer {tokens.get('access_token', '')}", "Accept": "application/json",
        })  # fmt: skip
        if more.get("sub") != claims["sub"]:
            raise SignInRefused("token", "the issuer's answers are about two different people")
        return {**more, **claims}

    def _verified(self, token: str, nonce: str | None) -> Mapping[str, object]:
        import jwt

        try:
            if jwt.get_unverified_header(token).get("alg") not in SIGNATURES:
                raise SignInRefused("token", "the ID token is not signed by a method that proves who signed it")
            key = self._signing_keys().get_signing_key_from_jwt(token)
            claims: dict[str, object] = jwt.decode(
                token, key, algorithms=list(SIGNATURES), audience=self.client.id, issuer=self.client.issuer,
                leeway=_LEEWAY_S, options={"require": ["exp", "iat", "iss", "sub", "aud"]},
            )  # fmt: skip
        except jwt.PyJWKClientConnectionError as error:
            raise _silent(self.client.issuer) from error
        except jwt.PyJWTError as error:
            raise SignInRefused("token", f"the ID token is not valid: {error}") from error
        audience, party = claims["aud"], claims.get("azp", self.client.id)
        if party != self.client.id or (isinstance(audience, list) and len(audience) > 1 and "azp" not in claims):
            raise SignInRefused("token", "the ID token was made for another client")
        if nonce is not None and claims.get("nonce") != nonce:
            raise SignInRefused("token", "the ID token was made for another attempt to sign in")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_MAX or not subject.isprintable():
            raise SignInRefused("token", "the ID token does not say who signed in")
        return claims

    def _signing_keys(self) -> "jwt.PyJWKClient":
        import jwt

        place = self._endpoint("jwks_uri")
        with self._lock:
            if self._keys is None or self._keys.uri != place:
                self._keys = jwt.PyJWKClient(place, timeout=_TIMEOUT_S)
            return self._keys

    def _described(self) -> Mapping[str, object]:
        with self._lock:
            if self._known is not None and self._known[0] > ids.monotonic():
                return self._known[1]
            found = self._ask("GET", self.client.issuer.rstrip("/") + _WELL_KNOWN, None, {"Accept": "application/json"})
            if found.get("issuer") != self.client.issuer:
                raise Unavailable(
                    f"{self.client.issuer} describes another issuer",
                    hint="set oidc_issuer exactly as the issuer spells itself",
                    details={"reason": "oidc_issuer"},
                )
            self._known = (ids.monotonic() + _KNOWN_S, found)
            return found

    def _endpoint(self, name: str) -> str:
        place = self._described().get(name)
        if not isinstance(place, str):
            raise SignInRefused("endpoint", f"the issuer has no {name}")
        if not may_carry_key(place):
            raise Unavailable(
                f"the issuer's {name} is not encrypted", hint="an issuer needs https://", details={"reason": "oidc"}
            )
        return place

    def _token(self, form: dict[str, str]) -> dict[str, object]:
        return self._post("token_endpoint", form)

    def _post(self, endpoint: str, form: dict[str, str]) -> dict[str, object]:
        """As the client that we are; with a secret in the header, unless the issuer takes it only in the body."""
        headers, client = dict(_FORM), self.client
        methods = self._described().get("token_endpoint_auth_methods_supported")
        # The header is what an issuer takes that does not say what it takes.
        if client.secret and (not isinstance(methods, list) or "client_secret_basic" in methods):
            pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        elif client.secret:
            form = {**form, "client_secret": client.secret}
        body = urlencode({**form, "client_id": client.id}).encode()
        return self._ask("POST", self._endpoint(endpoint), body, headers)

    def _ask(self, method: str, place: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, object]:
        parts = urlsplit(place)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            reply = transport.ask(
                f"{parts.scheme}://{parts.netloc}", method, target, body, headers, timeout_s=_TIMEOUT_S
            )
            found = json.loads(reply.body)
        except (OSError, ValueError) as error:
            raise _silent(self.client.issuer) from error
        if not isinstance(found, dict) or (reply.status >= 300 and "error" not in found):
            raise _silent(self.client.issuer)
        return found


_DEVICE_FIELDS = ("device_code", "user_code", "verification_uri")


def _silent(issuer: str) -> Unavailable:
    return Unavailable(
        f"the issuer {issuer} does not answer as one",
        hint="try again in a moment; if it stays so, is oidc_issuer right?",
        details={"reason": "oidc_silent", "issuer": issuer, "retry_after_s": 5},
    )


def _word(error: object) -> str:
    """An error as OAuth spells them; nothing else of an answer is passed on."""
    text = str(error)[:60]
    return text if text.isascii() and text.replace("_", "").isalnum() else "no reason given"
