"""Patterns of lines that are layout and not prose: headings, bylines, speakers, code, and page furniture."""

from __future__ import annotations

import re
import string

from discsum.writing import FUNCTION_WORDS, LINE_ENDS

# Words that end no line but a wrapped one, and words beside the break of a wrapped line.
DANGLING = frozenset({"the", "a", "an", "of", "and", "or", "that", "who", "which", "whose", "because", "than"})
CONNECTING = FUNCTION_WORDS | DANGLING | {"in", "on", "as", "was", "if", "so", "after", "before", "while", "my", "our"}
# The time of a subtitle.
CUE = re.compile(r"^(?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3}\s*-->", re.MULTILINE)
LINE = re.compile(rf"[^{LINE_ENDS}]+")
FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}")
SOURCE = re.compile(r"\[\d{1,3}\]")
NUMBER = r"\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?|[A-Za-z][.)]|\((?:\d{1,3}|[A-Za-z]|[ivxlc]+)\)|\[\d{1,3}\]|§ ?\d+"
BULLET = re.compile(rf"(?:[-*+•‣◦▪●–—·]|{NUMBER})(?=\s|$)")
# Before a quoted line: "> > said so"
QUOTE = re.compile(r"(?:>[ \t]*)+(?=\S)")
# After the bullet of a task: "- [x] call the mill".
CHECKBOX = re.compile(r"\[[ xX]\](?=\s|$)")
# A word that a line break divides: its last letter, the hyphen, and the first letter of the next line.
HYPHENATED = re.compile(r"[^\W\d_][-\u00ad\u2010][^\W\d_A-Z]")
# A cell of a table whose columns are aligned by spaces.
CELL = re.compile(r"\S+(?: \S+)*")
MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
UNDERLINE = re.compile(r"={3,}|-{3,}|~{4,}")
RULE = re.compile(r"([-=*_~])\1{2,}+(?:.*\1{3})?")
TABLE = re.compile(r"\|.*\||[^\t]+\t[^\t]+\t|\+[-=]{2,}\+")
CODE_LINE = re.compile(
    r"[{}]$|^(?:\$ |>>>|#!|//)|^from [\w.]+ import\b|^import [\w.{*][^ ]*(?:;|$| as | from )|^(?:async )?def \w+\(|"
    r"^return(?: [^ ]+)?;?$|^return\b.*(?:=|\w[(\[])|^function ?\w*\(|^(?:var|let|const) [\w{\[][^=]*="
)
# Lines of a stack trace.
TRACE = re.compile(
    r"Traceback \(most recent call last\):|File \"[^\"]{1,300}\", line \d+"
    r"|at [^\n()]{1,300} ?\([^()\s]{0,300}[./][^()\s]{0,300}:\d+\)$"
)
# What a line that ends in a semicolon, or in the brackets of a call, has in code and not in prose.
SIGN = re.compile(r"[={}\[\]<>]|\w\(|\+\+|--|->|::")
CALL = re.compile(r"(?:\S+ ){0,2}\S*\w\(")
TIME = r"\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[AaPp][Mm])?\]?"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
DATE = (
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}(?:,? \d{{4}})?|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})"
)
# The number or time before what a line says: "3 See also", "10:15 Talk: bridges", "5/5 If you care".
LEADING = re.compile(rf"(?:{TIME}|\d{{1,3}}(?:[./]\d{{1,3}}){{0,2}}(?:[ap]m)?)[ \t]+(?=[{string.ascii_uppercase}])")
# Capital letters of Latin, Greek, Cyrillic and Armenian, for use in a character class.
CAPITALS = "".join(letter for letter in map(chr, range(0x41, 0x557)) if letter.isupper())
TIMES = re.compile(rf"\[?(?:{DATE}|{TIME})[],]*(?: [-–])?")
NAME = rf"[{CAPITALS}][\w.'’-]*(?: (?:(?:of|de|van|von) )?[{CAPITALS}(][\w.'’)-]*){{0,4}}"
# A nick in a log of a chat; names of HTML elements are none.
NICK = (
    r"<(?!/?(?:a|article|b|blockquote|body|br|code|div|em|h\d|head|hr|html|i|li|ol|p|pre|section|span|strong|t[dhr]|"
    r"table|title|ul)\b)[ @+]?[^\s<>]{2,30}>"
)
# "Anna (10:15):", "[10:15] <anna>", "[10:15] anna:", "12/03/2024, 10:15 - Anna Berg:", "**Anna:**" in Markdown,
# "ANNA BERG, ANCHOR:" in transcripts.
_TIMED = rf"(?:\[?{DATE},? )?{TIME}(?: [-–])?\s+"
SPEAKER = re.compile(
    rf"(?:(?:{_TIMED})?(?:{NICK}|[*_]{{0,2}}{NAME}(?:\s*[(\[]{TIME}[)\]])?[*_]{{0,2}}\s*:[*_]{{0,2}})"
    rf"|{_TIMED}[\w.-]{{2,30}}:|[A-Z][A-Z.'’-]+(?: [A-Z][A-Z.'’-]*){{0,3}}, [A-Z][A-Z .,'’&-]{{1,60}}:)(?=\s|$)"
)
# Repetitions are bounded, as in every pattern here that could look far ahead: a text may have thousands of brackets
# that are never closed. Each character matches one alternative only: with two, every character would double the time.
LINK = re.compile(
    r"!?\[[^\[\]]{0,300}(?:\[[^\]]{0,300}\]\([^)]{0,300}\)[^\[\]]{0,300}){0,20}\](?:\([^)]{0,300}\)|:\s*\S+)?"
    r"|(?:https?://|www\.)\S+"
)
# The first word of an ingredient: "2 onions", "½ cup", "250g flour".
QUANTITY = re.compile(r"(?:\d{1,3}[ \t]*)?[¼½¾⅓⅔⅛]|\d{1,3}(?:[./,–-]\d{1,3})?[a-z]{0,2}[ \t]")
# The end of a sentence inside a line: after a longer word, which is no abbreviation, and before a capital letter.
ENDS_INSIDE = re.compile(rf"(?<=[^\W\d_]{{4}})[.!?][\"'”’)]{{0,2}}[ \t]+[\"'“‘(]{{0,2}}[{CAPITALS}]")
# What may divide a heading: "Part 1: the river", "Who came? Nobody".
HALVES = re.compile(r"[.!?:;–—-][\"'”’)]{0,2}\s")
# Names, addresses and titles: all words begin with capitals or digits.
NAMES = re.compile(
    rf"(?:[{CAPITALS}(\d][\w.,'’()&:/-]*|and|of|&|for)(?:\s+(?:[{CAPITALS}(\d][\w.,'’()&:/-]*|and|of|the|&|for))*"
)
FURNITURE = re.compile(
    r"(?:\d+ \w+ )?(?:(?:Read more|Read also|See also|Share (?:this|on)|View (?:all )?comments|Back to top|Follow us|"
    r"Sign up (?:for|to|here|now|today)|Subscribe (?:to|for|here|now|today)|Click here|Skip to|Scroll down)\b|"
    r"(?:Sign up|Subscribe|Advertisement|Related(?: (?:articles?|content|links|posts|reading|stories|topics))?)\W*$|"
    r"Related:)|\w+ has (?:joined|left) the \w+|"
    r"(?:Copyright\s+(?:(?:©|\([Cc]\))\s*)?|(?:©|\([Cc]\))\s*(?:Copyright\s+)?)"
    rf"(?:\d{{4}}(?:[\s,–-]+(?:by\s+)?{NAMES.pattern})?|{NAMES.pattern}\s\d{{4}})[.\s]*"
    r"(?:(?:All [Rr]ights [Rr]eserved|Click [Ff]or)\b.*)?$|"
    r"All [Rr]ights [Rr]eserved\W*$|"
    # *Corresponding author: c.author@university.example
    r"\W{0,3}(?:[\w.-]{1,30} ){0,4}[\w.-]{1,30}: ?<?[\w.+-]{1,64}@[\w.-]{3,100}>?\W?$"
)
LONGEST_FURNITURE = 500
REFERENCES = re.compile(
    r"\W*(?:\d+\.? )?(?:References|Bibliography|Works [Cc]ited|Literature|REFERENCES|BIBLIOGRAPHY)(?:\[edit\])?\W*"
)
# The mark of a footnote before its text.
FOOTNOTE = re.compile(r"[¹²³⁰⁴-⁹]+(?:[ \t]|(?=[A-Z][a-z]))|(?:\[\^\w{1,20}\]:?|[†‡]|\*\*(?=[ \t]))[ \t]*(?=\S)")
MAIL_FIELD = r"From|To|[Cc][Cc]|Bcc|Encl?\.?|Subject|Date|Sent|Reply-To|R[Ee]|Fwd|Attachments?"
MAIL_HEADER = re.compile(rf"(?:{MAIL_FIELD})\s*:")
HEADER = re.compile(
    rf"(?:{MAIL_FIELD}|Location|Venue|Time|Where|When|"
    r"Next meeting|Attendees|Present|Apologies|Chair|Tags|Keywords|Serves|Servings|Prep time|Cook time)\s*:\s"
)
_PROPER = rf"[{CAPITALS}][\w.'’/-]*"
_PLACE = rf"{_PROPER}(?:,? {_PROPER}){{0,4}}"
_IN_CAPITALS = rf"[A-Z][A-Z.'’/-]*[A-Z.](?:,? [A-Z][A-Z.'’/-]*){{0,3}}(?:, {_PLACE})?"
_AGENCY = r"(?:\([A-Za-z][A-Za-z .]{1,20}\)|/[\w -]{2,30}/)"
# "HARBOURTON, March 3 (Agency) -", "HARBOURTON, Norl., March 3, 2024 /Agency/ --", "Harbourton, Norland (Agency) --",
# "(Agency) -", "HARBOURTON —"
DATELINE = re.compile(
    rf"(?:(?:(?:{_IN_CAPITALS}|{_PROPER}(?: {_PROPER}){{0,3}}, {_PLACE}),? )?(?:{DATE},? )?{_AGENCY}(?:,? {DATE})?"
    rf"|{_IN_CAPITALS}(?:,? {DATE})?)\s*(?:(?<=\s)-+|--+|[–—]+)"
)
# The text after a dateline, which is not set off by a second dash.
DATED = re.compile(rf"\s+[\"'“‘(]?[{CAPITALS}](?![^.\n]{{0,80}} (?:--?|[–—]) )")
BYLINE_LINE = re.compile(
    "|".join(
        (
            # By Jane Doe and John Roe, Staff Writers
            r"(?:(?:Words |Story |Written |Reported |Posted )?[Bb]y|BY)\b"
            rf"(?:[\s.,|&]++(?:[{CAPITALS}][\w.'’-]*+|and|for|in|of|the))++[\s.]*",
            # PUBLISHED: 05:47 GMT, 3 March 2024
            r"(?:PUBLISHED|UPDATED|(?:First )?[Pp]ublished|Updated|Posted|Created|Last (?:updated|modified|edited))\b"
            r"[\s:.,]*(?:on )?[^a-z]*\d.*",
            rf"{DATE}(?:,? (?:at )?{TIME}(?: [A-Z]{{2,4}})?)?[.,]?",
            DATELINE.pattern,
            r"\([A-Z][A-Za-z ]+\)",
            r"\((?:Reporting|Writing|Editing|Additional reporting|Photo)\b[^)]*\)\.?",
            # Reporting by Jane Doe; Editing by John Roe
            r"(?:Reporting|Writing|Editing|Additional reporting) by "
            rf"(?=[{CAPITALS}][\w.'’-]*+ (?:[{CAPITALS}]|and ))(?:(?:[Ww]riting|[Ee]diting|[Aa]dditional reporting) by "
            rf"|[{CAPITALS}][\w.'’-]*+[\s,;]*+|and |in )++",
        )
    )
)
# Characters of a byline, at most.
LONGEST_BYLINE = 200
