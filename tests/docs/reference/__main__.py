"""`python -m tests.docs.reference` writes the reference pages of both languages."""

from tests.docs.reference.made import made

for path, text in made().items():
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
