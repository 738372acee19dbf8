"""What we say in English of questions with answers."""

QA: dict[str, str] = {
    "qa.short": "Questions with answers.",
    "qa.help": "Questions with answers that agents hand in, use and report on. A candidate is unproven until evidence "
    "or a person validates it; docs/qa.md says how confidence is learned. QA_ID is an id such as qa-… or a mark "
    "[QA_REF qa-…].",
    "qa.example": "codexmem qa candidates\ncodexmem qa approve qa-01K…",
    "qa.search.short": "Find answers.",
    "qa.search.help": "Find answers of one project, best first: relevance, weighed by what was learned. Unproven "
    "answers and those that contradict each other are marked. To search every kind of memory use codexmem search.",
    "qa.search.example": "codexmem qa search 端口 timeout --project shop --limit 3",
    "qa.candidates.short": "List what waits for a decision.",
    "qa.candidates.help": "List candidates, or items of another status, the newest first, one line each: status, "
    "confidence, id, day, project, how often it was used of the times it was shown, trials that worked and failed, "
    "question.",
    "qa.candidates.example": "codexmem qa candidates --project shop\ncodexmem qa candidates --status all --limit 50",
    "qa.show.short": "Show one item in full.",
    "qa.show.help": "Show one question with its answer, what was reported about it, other wordings, what contradicts "
    "it and what asks nearly the same.",
    "qa.show.example": "codexmem qa show '[QA_REF qa-01K…]'",
    "qa.approve.short": "Say that answers are right.",
    "qa.approve.help": "Say that these answers are right: they are validated, whatever they were. Several ids are "
    "decided all or not at all, as far as each exists. Each is a delta that codexmem undo takes back.",
    "qa.approve.example": "codexmem qa approve qa-01K… qa-01M…",
    "qa.reject.short": "Say that answers are wrong.",
    "qa.reject.help": "Say that these answers are wrong: they are no longer offered. They stay readable, and codexmem "
    "qa approve brings them back.",
    "qa.reject.example": "codexmem qa reject qa-01K…",
    "qa.hit.short": "Report that answers were shown or used.",
    "qa.hit.help": "Report that these answers were shown to somebody and, with --used, relied upon. A report with "
    "--message-id counts once, however often it is sent.",
    "qa.hit.example": "codexmem qa hit qa-01K… --used --message-id run-42",
    "qa.validate.short": "Report whether an answer worked.",
    "qa.validate.help": "Report that an answer was tried and whether it worked. Every report counts towards its "
    "confidence; a strong one also moves the item one step: candidate to validated, or back.",
    "qa.validate.example": "codexmem qa validate qa-01K… --success --strong\n"
    "codexmem qa validate qa-01K… --failure --note 'the flag is gone'",
    "qa.expire.short": "Let items expire that nobody speaks for.",
    "qa.expire.help": "Look at items whose time may be over and let those expire that nothing spoke for: candidates "
    "after 90 days, validated ones after a year. Nothing expires by itself: call it from a timer, until no more are "
    "due.",
    "qa.expire.example": "codexmem qa expire --batch-size 500",
    "qa.project": "Which project; by default the one of this folder.",
    "qa.only_project": "Only this project; by default all.",
    "qa.limit": "How many at most.",
    "qa.min_score": "Leave out what scores less, 0 to 1.",
    "qa.status": "Only this status.",
    "qa.after": "Go on behind this place, as the page before told it.",
    "qa.used": "They were relied upon, not only shown.",
    "qa.message_id": "The run or message it belongs to; sent again, it counts once.",
    "qa.success": "Whether it worked.",
    "qa.strong": "You are sure: it moves the item one step.",
    "qa.strength": "How sure you are, 0 to 1.",
    "qa.note": "What happened, for the log.",
    "qa.batch_size": "How many items to look at.",
    "qa.nothing": "no answer in project {project} scores {score} or more; try other words, --min-score 0 or --project",
    "qa.none": "no item fits",
    "qa.more": "there are more: --after {place}",
    "qa.bad_id": "{id} is no id; one looks like qa-…",
    "qa.bad_place": "this is no place that a page told",
    "qa.too_many": "at most {most} at a time",
    "qa.bad_message": "it has 1 to {most} characters",
    "qa.decided": "{id} is {status}",
    "qa.counted": "{count} counted, {again} were known already",
    "qa.learned": "{id} is {status}, confidence {confidence}",
    "qa.expired": "{count} expired",
    "qa.remaining": "more are due; run it again",
    "qa.confidence": "confidence",
    "qa.hits": "reported",
    "qa.hits_told": "shown {shown} {shown:time|times}, used {used} {used:time|times}",
    "qa.trials": "tried",
    "qa.trials_told": "worked {success} {success:time|times}, failed {failure} {failure:time|times}",
    "qa.project_label": "project",
    "qa.made": "made",
    "qa.author": "author",
    "qa.source": "source",
    "qa.tags": "tags",
    "qa.merged_into": "merged into",
    "qa.phrasings": "also asked as:",
    "qa.alternatives": "also answered as:",
    "qa.contradictions": "contradicted by:",
    "qa.similar": "asks nearly the same:",
    "qa.unproven": "unproven",
    "qa.contradicted": "contradicted by {ids}",
}
