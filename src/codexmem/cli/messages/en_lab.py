"""What we say in English of the lab's documents."""

LAB: dict[str, str] = {
    "lab.short": "Documents that the lab's runs may cite.",
    "lab.help": "The library of the lab: documents that its runs search and cite.",
    "lab.example": "codexmem lab kb add --sample\ncodexmem lab kb search kb_principles why is CO hard to keep",
    "lab.kb.short": "Add, list, search and remove documents.",
    "lab.kb.help": "The library of the lab. Documents lie in namespaces; the profile says which role may search which. "
    "This is not codexmem kb, which is what agents wrote down.",
    "lab.kb.example": "codexmem lab kb add kb_principles ~/papers\ncodexmem lab kb ls",
    "lab.kb.add.short": "Read a folder of documents.",
    "lab.kb.add.help": "Read Markdown, text and PDF files of FOLDER, and working directories of LightRAG inside it, "
    "into NAMESPACE. Without both, read the folders of CODEXMEM_KB_PRINCIPLES_DIR and CODEXMEM_KB_MODULATION_DIR. May "
    "be repeated: what has not changed is passed over, what is gone is removed, and all of it can be taken back. Works "
    "beside a running server.",
    "lab.kb.add.example": "codexmem lab kb add --sample\ncodexmem lab kb add kb_principles ~/papers",
    "lab.kb.sample": "The sample documents on photocatalysis that come with codexmem.",
    "lab.kb.sample_only": "the sample has documents for kb_principles and kb_modulation, and needs no folder",
    "lab.kb.sample_how": "run: codexmem lab kb add --sample",
    "lab.kb.add_how": "run: codexmem lab kb add NAMESPACE FOLDER, or codexmem lab kb add --sample",
    "lab.kb.none_configured": "no folder is named, and none is configured",
    "lab.kb.reading": "reading {namespace}",
    "lab.kb.line": "{namespace}: {added} added, {changed} changed, {removed} removed, {unchanged} unchanged; "
    "{pieces} {pieces:piece|pieces} written",
    "lab.kb.left": "left out: {document}: {reason}",
    "lab.kb.left_more": "left out: {count} more; --json names them",
    "lab.kb.cut": "not everything was looked at: {reason}",
    "lab.kb.no_documents": "there is no document in {folder} that can be read",
    "lab.kb.undo": "to take it back: {command}",
    "lab.kb.ls.short": "List namespaces, or the documents of one.",
    "lab.kb.ls.help": "List the namespaces there are, or the documents of NAMESPACE with the number of their pieces, "
    "their titles and folders.",
    "lab.kb.ls.example": "codexmem lab kb ls\ncodexmem lab kb ls kb_principles",
    "lab.kb.limit": "Documents shown. Default: 100.",
    "lab.kb.namespace": "NAMESPACE",
    "lab.kb.documents": "DOCUMENTS",
    "lab.kb.pieces": "PIECES",
    "lab.kb.empty": "there are no documents; codexmem lab kb add --sample brings some",
    "lab.kb.more": "there are more; --limit {limit}0 shows them",
    "lab.kb.search.short": "Search the documents of a namespace.",
    "lab.kb.search.help": "Show the pieces of NAMESPACE that fit the query best, as a run would find them, each with "
    "the reference that it is cited by.",
    "lab.kb.search.example": "codexmem lab kb search kb_modulation benzoic acid on TiO2 --top 3",
    "lab.kb.mode": "By words and meaning (hybrid), by words, or by meaning alone. Default: hybrid.",
    "lab.kb.top": "Pieces shown. Default: 5.",
    "lab.kb.nothing": "no piece fits",
    "lab.kb.rm.short": "Remove documents.",
    "lab.kb.rm.help": "Remove the named documents, or all documents of a folder or of the whole namespace. What runs "
    "have cited stays with them, and the removal can be taken back.",
    "lab.kb.rm.example": "codexmem lab kb rm kb_principles old.pdf\n"
    "codexmem lab kb rm kb_principles --folder sample:principles --yes",
    "lab.kb.folder": "Only documents read from this folder, as codexmem lab kb ls shows it.",
    "lab.kb.confirm": "Remove {count} {count:document|documents} of {namespace}?",
    "lab.kb.removed": "{count} {count:document|documents} removed",
    "lab.kb.nothing_to_remove": "there is no such document",
}
