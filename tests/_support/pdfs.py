"""Small PDF files, written by hand, so that a test decides what is in them."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def pdf(pages: Sequence[str], *, title: str = "") -> bytes:
    """A file whose pages say these lines; a page that says nothing shows a filled box, as a scan would."""
    return built([shown(text) for text in pages], title=title)


def shown(text: str) -> bytes:
    """The content of a page."""
    if not text:
        return b"0 0 200 200 re f"
    lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
    return f"BT /F1 11 Tf 50 780 Td {lines}ET".encode("latin-1")


def built(contents: Sequence[bytes], *, title: str = "", kids: str | None = None) -> bytes:
    """A file with these contents of pages, compressed; `kids` may say otherwise what the pages are."""
    count = len(contents)
    numbers = [4 + 2 * place for place in range(count)]
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Count {count} /Kids [{kids or ' '.join(f'{n} 0 R' for n in numbers)}] >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, content in zip(numbers, contents, strict=True):
        packed = zlib.compress(content, 9)
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        objects[number + 1] = (
            f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"
        )
    last = max(objects) + 1
    objects[last] = f"<< /Title ({title}) >>".encode()
    out, places = bytearray(b"%PDF-1.4\n"), {}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {last + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{places[number]:010d} 00000 n \n".encode() for number in range(1, last + 1))
    out += f"trailer\n<< /Size {last + 1} /Root 1 0 R /Info {last} 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def encrypted(raw: bytes, password: str) -> bytes:
    """The same file behind a password."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(raw)))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
