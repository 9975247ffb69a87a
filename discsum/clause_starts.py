"""How English clauses begin: with a subject, with a verb whose subject stands earlier, or with "that"."""

from __future__ import annotations

import re

# The beginning of a subject.
SUBJECT = re.compile(
    r"(?:the|an?|he|she|it|they|we|you|th(?:is|ese|ose)|his|her|their|its|our|my|your|there|no|some|many)\b|[A-Z]"
)
_PREPOSITIONS = (
    "about|according|after|around|as|at|because|before|between|by|despite|during|even|for|from|in|like|of|on|once|since|through|"
    "to|under|unlike|while|with|within|without"
)
_QUANTITIES = (
    "all|almost|another|any|at least|both|certain|each|every|fewer|(?:no|every|some|any)(?:body|one|thing)|less|more|"
    "most|nearly|none|only|several|such|up to|various|two|three|four|five|six|seven|eight|nine|ten"
)
# Plural nouns without an article, perhaps after an adjective; no verbs such as "means" and "includes".
_NOUNS = (
    r"(?:(?:[a-z]+(?:al|ic|ive|ful|less|ous)|bad|good|new|old|recent|young)\s+)?"
    r"(?:children|men|people|women|[a-z]{2,}(?:[^\W\dsui]s|ies))"
)
_VERBS = "allows|causes|comes|does|goes|happens|has|includes|is|leads|makes|means|needs|runs|says|seems|takes|wants|was"
# Before a reported clause: "that the economy is weak", "that in May prices rose", but not "that is weak", "that man".
_THAT = re.compile(
    rf"\Athat\s+(?!(?:{_VERBS})\b)"
    rf"(?={SUBJECT.pattern}|(?:{_PREPOSITIONS}|if|when|although|{_QUANTITIES}|{_NOUNS})\b|[$£€\"“]"
    # A number, but not a year: "that 2010 law".
    r"|(?!(?:19|20)\d\d\b)\d)"
)
_AUXILIARIES = (
    "was|is|were|are|has|had|have|does|did|do|will|would|can|could|may|might|must|should|said|says|took|takes|made|makes|"
    "went|goes|came|comes|saw|told|gave|gives|got|gets|left|began|begins|found|became|becomes|put|puts|kept|ran|won|lost|"
    "held|led|met|sent|set|sat|stood|wrote|bought|brought|built|caught|fell|felt|knew|paid|read|rose|sold|spent|taught|"
    "thought|threw|understood|wore"
)
# A finite verb, perhaps after an adverb; words in -ed that are none are left out.
VERB = re.compile(
    r"(?:(?:also|later|then|never|not|just|even|instead|eventually|soon|subsequently|finally)\s+)?"
    rf"(?:{_AUXILIARIES}|(?!(?:hundred|indeed|need|seed|speed|united)\b)[a-z]{{2,}}ed)\b"
)
# A conjunction after which a coordinand stands, always; "but" and "yet" may begin satellites too.
AND = re.compile(r"(?:and|or|nor)\b")
# A conjunction, preposition, relative pronoun or participle, by which a later part continues a sentence.
CONNECTIVE = re.compile(
    r"(?:[-–—]+ ?)?(?:but|yet|albeit|until|because|only because|so that|after|before|if|when|while|although|though|"
    r"since|unless|whereas|even if|even though|rather than|than|instead of|such as|as|at|by|during|for|from|in|of|on|"
    r"to|with|without|which|who|whom|whose|where|"
    # Participles.
    r"(?!(?:(?:any|every|no|some)?th|even|k|morn|r|spr|str|w)ing\b)[a-z]+ing)\b"
)


def without_that(clause: str) -> str:
    """Return a reported clause without the "that" at its beginning, if a clause follows that is complete without it."""
    return _THAT.sub("", clause)
