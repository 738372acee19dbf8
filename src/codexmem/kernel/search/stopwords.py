"""Words too common to find anything by: English function words, Chinese and Japanese particles and question words.

They are neither indexed nor searched. Words that carry meaning in code or in a question about time ("new", "first",
"last", "before", "after") are not among them.
"""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _listed(
    """
    a about above again against all am an and any are aren as at be because been being both but by ca can could did do
    does doing down during e.g each few for from further had has have having he her here hers herself him himself his
    how i i.e if in into is it its itself just let me more most my myself nor not of off on once only or other our ours
    ourselves out over own same shall she should so some such than that the their theirs them themselves then there
    these they this those through to too under until up us very was we were what when where which while who whom why
    will with wo would you your yours yourself yourselves
    """
)

# Single characters that are particles, pronouns and the like; as part of a pair they still count.
CHARACTERS = frozenset(
    "的了是在和与及或也都就而着吗呢吧啊呀之其这那我你您他她它们很被把让给从以于个のはをにがとでもてたし"
)
# Characters that often stand alone between words of two.
BETWEEN = CHARACTERS | frozenset(
    "前后後里裡中上下内內外时時要会會能该該得想做有没沒不还還再又才只用到去来來给給向對对為为由并並将將已过過每各新"
)

PAIRS = _listed(
    "什么 怎么 如何 为何 为什 哪些 哪个 哪里 是否 可以 一个 这个 那个 我们 你们 他们 以及 或者 但是 因为 所以 如果"
)
