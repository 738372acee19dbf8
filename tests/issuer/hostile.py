"""An issuer that answers with whatever token a test makes, signed rightly or wrongly."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "codexmem"


@dataclass
class SigningKey:
    """A key of the issuer, or of somebody who would like to be it."""

    kid: str
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    @property
    def public(self) -> dict[str, Any]:
        return {**jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True), "kid": self.kid}

    @property
    def public_text(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def signed(self, claims: dict[str, Any], *, alg: str = "RS256") -> str:
        return jwt.encode(claims, self.private, algorithm=alg, headers={"kid": self.kid})

    def with_secret(self, claims: dict[str, Any], secret: bytes) -> str:
        """By HS256 with any text as the secret; the library would refuse some of them."""
        import hmac

        head = _part({"alg": "HS256", "typ": "JWT", "kid": self.kid}) + "." + _part(claims)
        return head + "." + _encoded(hmac.new(secret, head.encode(), hashlib.sha256).digest())

    def unsigned(self, claims: dict[str, Any]) -> str:
        return f"{_part({'alg': 'none', 'kid': self.kid})}.{_part(claims)}."


class HostileIssuer:
    """Gives every code and every device `token`; counts how often its keys are asked for."""

    def __init__(self) -> None:
        self.key = SigningKey("first")
        self.published = [self.key]
        self.token = ""
        self.userinfo: dict[str, Any] = {}
        self.forms: list[dict[str, str]] = []
        self.asked_for_keys = 0
        self.description: Callable[[str], dict[str, Any]] = lambda url: {}
        outer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                if path == "/jwks":
                    outer.asked_for_keys += 1
                found = {
                    "/.well-known/openid-configuration": outer._described(),
                    "/jwks": {"keys": [each.public for each in outer.published]},
                    "/me": outer.userinfo,
                }[path]
                self._answer(found)

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"])).decode()
                outer.forms.append({name: values[0] for name, values in parse_qs(sent).items()})
                self._answer({"access_token": "a", "token_type": "Bearer", "id_token": outer.token})

            def _answer(self, found: dict[str, Any]) -> None:
                body = json.dumps(found).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def claims(self, nonce: str, /, **other: Any) -> dict[str, Any]:
        """What a good token says; None leaves a claim out."""
        now = int(time.time())
        good = {"iss": self.url, "aud": CLIENT, "sub": "ann-1", "iat": now, "exp": now + 300, "nonce": nonce,
                "preferred_username": "ann", "groups": ["eng"]}  # fmt: skip
        return {name: value for name, value in (good | other).items() if value is not None}

    def _described(self) -> dict[str, Any]:
        return {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/auth", "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks", "userinfo_endpoint": f"{self.url}/me", **self.description(self.url),
        }  # fmt: skip

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _part(value: dict[str, Any]) -> str:
    return _encoded(json.dumps(value).encode())


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
