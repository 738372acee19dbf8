"""Made-up requests and rules whose meaning is known, because they are made from it and not the other way round."""

from __future__ import annotations

import posixpath
import random
import re
from dataclasses import dataclass, replace
from typing import Any

from codexmem.kernel.model.tool_access import Risk, ToolRequest
from tests.domain.policy_reference import (
    CLASSES,
    KnownCommand,
    KnownName,
    KnownPath,
    KnownRequest,
    KnownRule,
    KnownUrl,
)

HOME = "/home/u"
LINKS = {("work", "link"): ("etc",), ("work", "src", "up"): ("work", "secrets")}
OWN_TOOLS = {
    "Read": "read", "Grep": "read", "Write": "write", "Edit": "write", "apply_patch": "write", "WebFetch": "network",
    "web_search": "network", "Bash": "execute", "run_shell_command": "execute", "frobnicate": None, "deploy_now": None,
}  # fmt: skip
SERVERS = ("github", "files", "web")
SERVER_TOOLS = ("get_issue", "search", "delete", "Read")
PATHS = (
    "/etc/passwd", "/etc", "/shop/src/a.py", "/shop/secrets/k", "/shop/.env", "/shop/link/shadow", "/shop/src/up/k",
    "/home/u/notes/项目.md", "/home/u/.ssh/id_rsa", "/etcetera/x", "/shopping/y", "/tmp/x", "/",
)  # fmt: skip
RULE_PATHS = ("/etc", "/shop", "/shop/secrets", "/home/u", "/home/u/.ssh", "/tmp/", "/shop/src/../src", "~/notes")
CWDS = ("/shop", "/shop/src", "/", "/home/u", "")
HOSTS = (
    "example.com", "docs.example.com", "example.com.evil.com", "evilexample.com", "evil.com", "a.b.evil.com",
    "localhost", "127.0.0.1", "10.0.0.1", "example.org",
)  # fmt: skip
RULE_DOMAINS = ("example.com", "evil.com", "com", "localhost", "127.0.0.1", "10.0.0.1", "12.0.0.1", "bücher.example",
                "::1")  # fmt: skip
LOOK_ALIKE = {"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "i": "і", "s": "ѕ", "x": "х"}
WORDS = ("git", "status", "log", "ls", "-la", "build", "make", "test", "echo", "rm", "-rf", "hi")
RULE_COMMANDS = (("git", "status"), ("rm",), ("rm", "-rf"), ("make",), ("git",))


@dataclass(frozen=True)
class Made:
    """A request and what it means."""

    request: ToolRequest
    known: KnownRequest


class World:
    """Makes things up, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def request(self) -> Made:
        """Any request."""
        dice = self.dice
        tool, server, name = self._name()
        cwd = dice.choice(CWDS)
        # Half of all requests are about one thing, so that rules by path and by domain get their say.
        path_count, url_count = dice.choice(((1, 0), (1, 0), (0, 1), (0, 1), (0, 0), (1, 1), (2, 0), (0, 2), (3, 2)))
        paths = [self._path(cwd) for _ in range(path_count)]
        urls = [self._url() for _ in range(url_count)]
        command = self._command(cwd) if dice.random() < (0.8 if name.listed == "execute" else 0.1) else None
        told = dice.choice(CLASSES) if dice.random() < 0.15 else None
        from_text = dice.random() < 0.15
        request = ToolRequest(
            tool=tool, server=server, risk=Risk[told.upper()] if told else None,
            command=command.text if command else "", paths=tuple(text for text, _ in paths),
            urls=tuple(text for text, _ in urls), cwd=cwd, from_text=from_text,
        )  # fmt: skip
        known = KnownRequest(
            name, tuple(path for _, path in paths), tuple(url for _, url in urls), command, _parts(cwd), told, from_text
        )
        return Made(request, known)

    def rules(self) -> tuple[dict[str, list[object]], list[KnownRule]]:
        """Rules for all three lists, as they are written and as they are meant."""
        written: dict[str, list[object]] = {"allow": [], "deny": [], "ask": []}
        known = []
        for verdict, most in (("deny", 2), ("ask", 1), ("allow", 8)):
            for _ in range(self.dice.randint(0, most)):
                text, rule = self._rule(verdict)
                written[verdict].append(text)
                known.append(rule)
        return written, known

    # -- names --

    def _name(self) -> tuple[str, str, KnownName]:
        dice = self.dice
        if dice.random() < 0.7:
            base = dice.choice(list(OWN_TOOLS))
            text, plain = self._spelled(base)
            low = base.lower()
            known = KnownName(frozenset({low}), low if plain else None, _prefixes(low), None, foreign=False,
                              listed=OWN_TOOLS[base] if plain else None)  # fmt: skip
            return text, "", known
        server, tool = dice.choice(SERVERS), dice.choice(SERVER_TOOLS)
        low = tool.lower()
        whole = f"mcp__{server}__{low}"
        match dice.randrange(7):
            case 0:
                text, plain = self._spelled(f"mcp__{server}__{tool}")
                known = KnownName(frozenset({whole}), whole if plain else None, _prefixes(whole),
                                  server if plain else None, foreign=True)  # fmt: skip
                return text, "", known
            case 1:
                text, plain = self._spelled(tool)
                known = KnownName(frozenset({low, whole}), whole if plain else None, _prefixes(low) | {server},
                                  server if plain else None, foreign=True)  # fmt: skip
                return text, server.upper(), known
            case 2:
                known = KnownName(frozenset({whole}), whole, _prefixes(whole) | {server}, server, foreign=True)
                return f"mcp__{server}__{tool}", server, known
            case 3:
                other = dice.choice([each for each in SERVERS if each != server])
                own = f"mcp__{other}__{low}"
                looks = frozenset({own, f"mcp__{server}__{own}"})
                return own, server, KnownName(looks, None, _prefixes(own) | {server}, None, foreign=True)
            case 4:
                single = f"mcp_{server}_{low}"
                rest = f"{server}_{low}"
                cuts = {f"mcp__{rest[:at]}__{rest[at + 1 :]}" for at, sign in enumerate(rest) if sign == "_"}
                return single, "", KnownName(frozenset({single, *cuts}), single, _prefixes(single), None, foreign=True)
            case 5:
                joined = f"{server}_{low}"
                listed = "network" if joined == "web_search" else None
                return joined, "", KnownName(frozenset({joined}), joined, _prefixes(joined), None, False, listed)
            case _:
                double = f"mcp__{server}__x__{low}"
                given = dice.choice(("", server))
                looks = _prefixes(double) | ({server} if given else set())
                return double, given, KnownName(frozenset({double}), double, looks, None, foreign=True)

    def _spelled(self, name: str) -> tuple[str, bool]:
        """The name written in some way, and whether it is plain after compatible characters are replaced."""
        at = self.dice.randrange(len(name))
        match self.dice.randrange(10):
            case 0:
                return name.upper(), True
            case 1:
                return "".join(chr(ord(each) + 0xFEE0) if each.isalnum() else each for each in name), True
            case 2:
                return name[:at] + self.dice.choice("\u200b\u200d\ufeff\u00ad\u2060") + name[at:], False
            case 3:
                swapped = "".join(LOOK_ALIKE.get(each, each) for each in name)
                return swapped, swapped == name
            case 4:
                accented = name.replace("e", "é").replace("a", "á")
                return accented, accented == name
            case _:
                return name, True

    # -- paths --

    def _path(self, cwd: str) -> tuple[str, KnownPath]:
        dice = self.dice
        path = dice.choice(PATHS)
        match dice.randrange(12):
            case 0:
                return "~root/" + path.strip("/"), KnownPath((), clear=False)
            case 1:
                text = "/shop" + f"/..{path}".replace("/", "\\")
                inside = tuple(_parts(posixpath.normpath(text.replace("\\", "/"))))
                return text, KnownPath((_parts(text), inside), clear=False)
            case 2 if cwd:
                text = posixpath.relpath(path, cwd)
                return self._noisy(text), _known_path(f"{cwd}/{text}")
            case 3 if not cwd:
                return "etc/passwd", KnownPath((), clear=False)
            case 4 if path.startswith(HOME):
                return "~" + path.removeprefix(HOME), _known_path(path)
            case 5:
                loud = path.upper()
                return loud, _known_path(loud)
            case 6:
                text = f"/shop/link/../{dice.choice(('passwd', 'src/a.py'))}"
                return text, _known_path(text)
            case 7:
                return f"/shop/../../..{path}", _known_path(path)
            case _:
                return self._noisy(path), _known_path(path)

    def _noisy(self, path: str) -> str:
        """The same path with more signs."""
        pieces = path.split("/")
        made = []
        for piece in pieces:
            made.append(piece)
            match self.dice.randrange(8):
                case 0:
                    made.append(".")
                case 1 if piece and piece != "..":
                    made.append("")
                case 2 if piece and piece not in {"..", "link", "up"}:
                    made += ["nothing", ".."]
        return "/".join(made)

    # -- addresses --

    def _url(self) -> tuple[str, KnownUrl]:
        dice = self.dice
        host, other = dice.choice(HOSTS), dice.choice(HOSTS)
        sure = KnownUrl(host, frozenset({host}))
        both = KnownUrl(None, frozenset({host, other}))
        unsure = KnownUrl(None, frozenset({host}))
        match dice.randrange(22):
            case 0:
                return f"HTTPS://{host.upper()}/X", sure
            case 1:
                return f"https://{host}./x", sure
            case 2:
                return f"https://{host}:8443/x?q=1#f", sure
            case 3:
                return f"https://{host}@{other}/x", both
            case 4:
                return f"https://{host}\\@{other}/x", both
            case 5:
                return f"https://user:secret@{host}/", unsure
            case 6:
                return f"https://{host}%2f@{other}/", both
            case 7:
                return f"https:/{host}/x", unsure
            case 8:
                return f"https://{host[:2]}\t{host[2:]}/x", unsure
            case 9:
                return f"https://{''.join(f'%{ord(each):02x}' for each in host[:1])}{host[1:]}/", unsure
            case 10:
                wide = "".join(chr(ord(each) + 0xFEE0) if each.isalnum() else each for each in host)
                return f"https://{wide}/", unsure
            case 11:
                odd = dice.choice(("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.0.0.1", "127.0.1"))
                return f"http://{odd}/", KnownUrl(None, frozenset({"127.0.0.1"}))
            case 12:
                return "http://012.0.0.1/", KnownUrl(None, frozenset({"10.0.0.1", "12.0.0.1"}))
            case 13:
                return "http://[::1]:8080/", KnownUrl("::1", frozenset({"::1"}))
            case 14:
                mapped = KnownUrl("::ffff:7f00:1", frozenset({"::ffff:7f00:1", "127.0.0.1"}))
                return dice.choice(("http://[::ffff:127.0.0.1]/", "http://[::FFFF:7F00:1]/")), mapped
            case 15:
                wire = "xn--bcher-kva.example"
                known = KnownUrl(wire, frozenset({wire, "bucher.example"}))
                return dice.choice(("https://bücher.example/", "https://BÜCHER.example/", f"https://{wire}/")), known
            case 16:
                fake = "".join(LOOK_ALIKE.get(each, each) for each in host)
                if fake == host:
                    return f"https://{host}/", sure
                wire = ".".join(each.encode("idna").decode() for each in fake.split("."))
                known = KnownUrl(wire, frozenset({wire, host}))
                return f"https://{dice.choice((fake, wire))}/", known
            case 17:
                return f"{host}/x", sure
            case 18:
                file = dice.choice(PATHS)
                return f"file://{file}", KnownUrl(None, frozenset(), _known_path(file))
            case 19:
                return f"https://{host}/{other}/@{other}", sure
            case _:
                return f"https://{host}/", sure

    # -- commands --

    def _command(self, cwd: str) -> KnownCommand:
        dice = self.dice
        words, paths, urls = self._words(cwd)
        plain = " ".join(_quoted(word, dice) for word in words)
        known = KnownCommand(plain, (words,), simple=True, paths=paths, urls=urls)
        match dice.randrange(13):
            case 0:
                more, more_paths, more_urls = self._words(cwd)
                sign = dice.choice(("; ", " | ", " && ", " & ", "\n"))
                text = plain + sign + " ".join(_quoted(word, dice) for word in more)
                return KnownCommand(text, (words, more), paths=paths + more_paths, urls=urls + more_urls)
            case 1:
                return replace(known, text=f"echo $({plain})", parts=(("echo",), words), simple=False, clear=False)
            case 2:
                return replace(known, text=f"{plain} $X", parts=((*words, "X"),), simple=False, clear=False)
            case 3:
                return replace(known, text=f"A=1 {plain}", parts=(("A=1", *words),), simple=False)
            case 4:
                return replace(known, text=f"sudo {plain}", parts=(("sudo", *words),))
            case 5 if "'" not in plain:
                shell = dice.choice(("bash", "/bin/bash", "sh", "/usr/bin/zsh"))
                return replace(known, text=f"{shell} -lc '{plain}'", parts=((shell, "-lc"), words))
            case 6 if "'" not in plain:
                # A shell from elsewhere may be anything, so what it is given is not what it does.
                parts = (("./bash", "-lc"), words, ("./bash", "-lc", plain))
                return replace(known, text=f"./bash -lc '{plain}'", parts=parts)
            case 7:
                return replace(known, text=f"\\{plain}" if plain[0].isalpha() else f"'x'{plain}", simple=False,
                               parts=(words,) if plain[0].isalpha() else ((f"x{words[0]}", *words[1:]),))  # fmt: skip
            case 8:
                return replace(
                    known, text=f"{plain} 'unclosed", parts=((*words, "unclosed"),), simple=False, clear=False
                )
            case 9:
                return replace(known, text=f"{plain} | sh", parts=(words, ("sh",)), simple=False, clear=False)
            case 10:
                hit = KnownPath((("etc", "passwd"),))
                return replace(known, text=f"{plain} /e?c/pass*", parts=((*words, "/e?c/pass*"),), simple=False,
                               paths=(*paths, hit))  # fmt: skip
            case 11:
                text, path = self._path_word(cwd)
                glued = dice.choice(("--file=", "of=", "@"))
                return replace(known, text=f"{plain} {glued}{text}", parts=((*words, glued + text),),
                               paths=(*paths, path), simple=True)  # fmt: skip
            case _:
                return known

    def _words(self, cwd: str) -> tuple[tuple[str, ...], tuple[KnownPath, ...], tuple[KnownUrl, ...]]:
        dice = self.dice
        words = [dice.choice(("git", "ls", "make", "rm", "echo"))]
        words += [dice.choice(WORDS) for _ in range(dice.randint(0, 3))]
        paths, urls = [], []
        if dice.random() < 0.4:
            text, path = self._path_word(cwd)
            words.append(text)
            paths.append(path)
        if dice.random() < 0.3:
            host = dice.choice(HOSTS)
            words.append(dice.choice((f"https://{host}/x", f"--url=https://{host}", f"me@{host}:repo", host)))
            urls.append(KnownUrl(host, frozenset({host})))
        return tuple(words), tuple(paths), tuple(urls)

    def _path_word(self, cwd: str) -> tuple[str, KnownPath]:
        path = self.dice.choice(PATHS)
        if cwd and self.dice.random() < 0.3:
            text = posixpath.relpath(path, cwd)
            return text, _known_path(f"{cwd}/{text}")
        return path, _known_path(path)

    # -- rules --

    def _rule(self, verdict: str) -> tuple[object, KnownRule]:
        dice = self.dice
        fields: dict[str, Any] = {}
        names = ["tool", "server", "path", "domain", "risk", "command"]
        chosen = dice.sample(names, dice.choice((1, 1, 1, 2)))
        if verdict == "allow" and (
            set(chosen) == {"path", "domain"} or ("command" in chosen and {"path", "domain"} & set(chosen))
        ):
            chosen = chosen[:1]
        for name in chosen:
            fields[name] = dice.choice(_CHOICES[name])
        command = fields.get("command")
        domain = fields.get("domain")
        rule = KnownRule(
            verdict, fields.get("tool"), fields.get("server"),
            path=_parts(posixpath.normpath(fields["path"].replace("~", HOME))) if "path" in fields else None,
            domain={"bücher.example": "xn--bcher-kva.example"}.get(domain or "", domain),
            domain_looks={"bücher.example": "bucher.example"}.get(domain or "", domain),
            domain_is_number=domain in {"127.0.0.1", "10.0.0.1", "12.0.0.1", "::1"}, risk=fields.get("risk"),
            command=command,
        )  # fmt: skip
        if dice.random() < 0.2:
            modes = dice.sample(("dev", "test", "prod"), dice.choice((1, 2)))
            return self._table(fields) | {"mode": modes}, replace(rule, modes=frozenset(modes))
        if len(fields) == 1 and dice.random() < 0.5:
            name, value = next(iter(fields.items()))
            text = " ".join(value) if name == "command" else value
            return (text if name == "tool" else f"{name}:{text}"), rule
        return self._table(fields), rule

    @staticmethod
    def _table(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: " ".join(value) if name == "command" else value for name, value in fields.items()}


_CHOICES: dict[str, tuple[Any, ...]] = {
    "tool": ("Bash", "read", "READ*", "w*", "ba?h", "*", "mcp__github__*", "mcp__*__delete", "Edit", "apply_patch"),
    "server": (*SERVERS, "git*"),
    "path": RULE_PATHS, "domain": RULE_DOMAINS, "risk": CLASSES, "command": RULE_COMMANDS,
}  # fmt: skip


def resolve(path: str) -> str:
    """What the links of this world lead to, one part after the other, as a kernel does it."""
    stack: list[str] = []
    for part in path.split("/"):
        if part == "..":
            stack = stack[:-1]
        elif part not in {"", "."}:
            stack.append(part)
            stack = list(LINKS.get(tuple(stack), tuple(stack)))
    return "/" + "/".join(stack)


def _known_path(text: str) -> KnownPath:
    written = posixpath.normpath("/" + text.lstrip("/"))
    return KnownPath((_parts(written), _parts(resolve(text))))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _prefixes(name: str) -> frozenset[str]:
    rest = re.sub(r"^mcp_+", "", name)
    return frozenset(rest[:at].strip("_") for at, sign in enumerate(rest) if sign == "_") - {""}


def _quoted(word: str, dice: random.Random) -> str:
    if any(each in word for each in " ~*?"):
        return f"'{word}'"
    return f'"{word}"' if dice.random() < 0.1 else word
