"""The English grammar: what each table is for is said in grammar.py. The first pattern that matches a sentence is used."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import (
    DATE,
    NUMBER,
    Grammar,
    compile_patterns,
)
from ragstone.testset.vocabulary import NUMBER_WORDS
from ragstone.text.clause_words import to_word_set

_NAMES = {
    "subject": r"(?P<subject>[^\t]{2,70})",
    "be": r"(?P<verb>is|are|was|were)",
    "aux": r"(?P<verb>is|are|was|were|can|may|must|should|will)",
    "participle": r"(?:[a-z]+ed|built|sold|held|kept|paid|lent|sent|shown|taken|given|written|made|put|brought|closed|handed in|found|left|worn|seen|read|cut|set|drawn|driven|led|run|spent|done|met|told|bought|begun)",
    "date": DATE["en"],
    "money": r"(?:[$€£]\d[\d.,]*(?<![.,])|\d[\d.,]*(?<![.,])(?:p|%| (?:euros?|dollars?|pounds|cents|pence|per cent))(?!\w))(?: million| billion)?",
    "per": r"(?: (?:per|a|an|each|for|of|once|towards|including|excluding) [^,;:()\d]{1,40}|(?: each| extra| in total)){0,2}",
    "units": r"(?:[a-z-]+ ){0,2}(?:[a-z]{2,}(?<![su])s|people|children)(?: of [a-z]+(?: [a-z]+)?)?",
    "unit": r"(?:(?:working|calendar|business|full) )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)",
    "num": NUMBER.format(words="|".join(sorted(NUMBER_WORDS["en"]))),
    "where": r"(?: (?:a|an|per|each|every|in|on|at|from|for) [^,;:()\d]{2,40})?",
    "time": r"(?P<answer>(?P<prep>\S+)(?: [^\t]*)?)",
}  # fmt: skip
_PRAISE = r"(?:\w+ )?(?:good|great|nice|important|useful|better|more|very|new|different|part|example|way|case|number|lot|bit|matter|problem|successor)\b"
PREDICATES = compile_patterns(
    [
        ("when", r"@subject\t(?P<verb>was|were)\t(?:first |originally |officially |finally )?(?P<pp>@participle) (?:in|on) (?P<answer>@date)(?: .*)?", "When {verb} {subject} {pp}?", "{answer}"),
        ("when", r"@subject\t(?P<verb>[a-z]+ed|began)\t(?:in|on) (?P<answer>@date)(?:,? .*)?", "When did {subject} {base}?", "{answer}"),
        ("where", r"@subject\t@be\t(?P<pp>located|stored|kept|found|installed|placed|saved|documented|hosted|held|archived|displayed|recorded|logged) (?P<answer>(?:in|at|on|under) [^,;:()]{3,70})", "Where {verb} {subject} {pp}?", "{Answer}."),
        ("place", r"(?P<subject>The [^\t]+)\t@be\t(?P<answer>(?:in|on|at|near|opposite|beside|behind|next to) (?!the (?:left|right|right-hand|left-hand|process|case|middle|way|form|hands|same|list|market|heart of)\b)(?:the [a-z]+|[A-Z][a-z]+)[^,;:()]{3,60})", "Where {verb} {subject}?", "{Answer}."),
        ("place", r"@subject\t(?P<verb>goes|go|belongs?)\t(?P<answer>(?:in|into|to|on) the [^,;:()]{3,50})", "Where {do} {subject} {base}?", "{Answer}."),
        ("where", r"@subject\t(?P<verb>can|may|must)\tbe (?P<pp>bought|rented|collected|borrowed|handed in|returned|picked up|found|downloaded|seen|paid|ordered|dropped off) (?P<answer>(?:in|at|from) [^,;:()]{4,60})", "Where {verb} {subject} be {pp}?", "{Answer}."),
        ("cost", r"@subject\t@be\t(?P<answer>(?:up to |at least |about )?@money@per)", "How much {verb} {subject}?", "{answer}"),
        ("cost", r"@subject\t(?P<verb>costs?|pays?|charges?|earns?|receives?|costed|paid|charged)\t(?P<answer>(?:up to |at least |about )?@money@per)", "How much {do} {subject} {base}?", "{answer}"),
        ("cost", r"@subject\t@aux\t(?P<rest>(?:be )?[a-z]+ed) (?P<limit>up to|to|at) (?P<answer>@money@per)", "{Limit} how much {verb} {subject} {rest}?", "{answer}"),
        ("cost", r"@subject\t(?P<verb>can|may|must)\t(?P<act>[a-z]+) (?P<answer>(?:up to |at least |no more than )?@money@per)", "How much {verb} {subject} {act}?", "{answer}"),
        ("how_long", r"@subject\t(?P<verb>takes?|lasts?|lasted)\t(?P<answer>(?:up to |about |around |between )?@num (?:(?:to|and) @num )?@unit)", "How long {do} {subject} {base}?", "{answer}"),
        ("how_long", r"(?P<subject>You)\t(?P<verb>have)\t(?P<answer>@num @unit) (?P<rest>(?:from [^,;:]{4,40} )?to [a-z]+ [^,;:()]{4,60})", "How long do I have {rest}?", "{answer}"),
        ("size", r"@subject\t@be\t(?P<answer>@num [a-z]+) (?P<how>high|long|wide|deep|tall|thick)(?: and .*)?", "How {how} {verb} {subject}?", "{answer}"),
        ("size", r"@subject\t(?P<verb>must|should)\tbe (?P<answer>(?:at least |no more than |at most |up to |exactly )?@num [a-z]+) (?P<how>high|long|wide|deep|tall|thick)", "How {how} {verb} {subject} be?", "{answer}"),
        ("size", r"@subject\t(?P<verb>weighs?)\t(?P<answer>@num [a-z]+)", "How much {do} {subject} weigh?", "{answer}"),
        ("how_many", r"@subject\t(?P<verb>(?!is|are|was|were|can|may|must|should|will|takes?|lasts?)[a-z]+)\t(?P<answer>@num (?!@unit(?! of ))(?P<unit>@units))(?P<rest>@where)(?: and .*)?", "How many {unit} {do} {subject} {base}{rest}?", "{answer}"),
        ("how_many", r"@subject\t(?P<verb>can|may|must)\t(?P<act>(?!be\b)[a-z]+) (?P<answer>(?:up to |at most |at least )?@num (?P<unit>@units))(?P<rest>@where)", "How many {unit} {verb} {subject} {act}{rest}?", "{answer}"),
        ("how_many", r"There\t(?P<verb>are)\t(?P<answer>@num (?P<unit>@units)) (?P<subject>(?:in|on|at|beside|near|behind|under|for|between) [^,;:()]{4,50})", "How many {unit} are there {subject}?", "{answer}"),
        ("time", r"@subject\t@be\t(?P<answer>(?:on |from |in )?@date(?: to @date)?)", "When {verb} {subject}?", "{Answer}."),
        ("time", r"@subject\t@aux\t(?P<rest>(?:not |only |also )?(?:be )?(?:open|closed|available|free|valid|due|at [a-z]+ [a-z]+|@participle)\b(?: [^,;:()\s\d]+){0,6}?)\t@time", "{Wh} {verb} {subject} {rest}?", "{Answer}."),
        ("time", r"@subject\t(?P<verb>(?!is|are|was|were|can|may|must|should|will|has|have|takes?\\t(?!place)|lasts?)[a-z]+)\t(?P<rest>(?:[^,;:()\s\d]+ ?){0,5}?)\t@time", "{Wh} {do} {subject} {base} {rest}?", "{Answer}."),
    ],
    _NAMES,
)  # fmt: skip

ENGLISH = Grammar(
    language="en",
    definition=re.compile(rf"(?P<subject>[^,;:()]{{2,60}}?) (?P<verb>is|are) an? (?!{_PRAISE})(?P<rest>[a-z].{{15,}})"),
    predicates=PREDICATES,
    articles=to_word_set("the a an"),
    closed_words=to_word_set(
        "this these those that which who whom whose what when where why how if because although though while since unless until whether and or but nor "
        "so than then there here it its he she they them their his her we us our you your i me my is are was were be been being am do does did done has have "
        "had having can could may might must shall should will would not no never only also very just even still already always often usually sometimes "
        "now currently generally normally typically however therefore thus moreover to by with from at into onto about as after before during between through "
        "without within via per each every some many most all both neither either another other such same first second last next one more less any new newer recent latest old older current modern typical optional additional "
        "said says means see note let please try make makes made get gets use uses used using contains provides allows e.g i.e etc simply actually"
    ),
    links=to_word_set("of for in on to from under with at between"),
    bad_starts=to_word_set(
        "this these those that it its he she they we you i there here such both all some many most each every another other one two three several as if when while "
        "although because since unless however therefore thus also then so but and or yet nor moreover furthermore instead otherwise finally first second "
        "similarly likewise for in on at by with without to from after before during what which who how why where not no only even just see note please "
        "various different nonetheless nevertheless meanwhile accordingly strictly currently generally usually often sometimes additionally fortunately unfortunately unlike like given using being having doing everything nothing something anything "
        "more less another any part later today now again hence indeed perhaps maybe obviously basically alternatively consequently conversely"
    ),
    question_pointers=re.compile(r"\b(?:(?:do|can) I \w+ that|this|these|those|it|its|itself|they|them|their|he|she|his|her|him|we|us|our|above|below|following|here|such|former|latter|aforementioned|previous|previously|earlier|same|said|you|your|yours|yourself|and/or|etc|lines?|example|respectively|another|other|chapter|figure|on the (?:left|right)|respective|current|selected|(?:the|a|an) (?:given|specified|supplied|pasted|detected|highlighted|chosen|resulting|desired|corresponding|appropriate|relevant))\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:this|these|those|them|there(?! (?:is|are|was|were|may|can|must|will|has|have))|it|above|below|following|follows|here|such(?! as)|former|latter|aforementioned|previous|previously|earlier|(?:next|last) (?:section|chapter|paragraph)|in (?:section|chapter)|(?:section|chapter|figure|table) (?:[A-Z]\.)?\d|instead(?=\.?$)|(?:the|all|any) others?(?! than)|likewise|similarly|respectively|mentioned|as (?:described|shown|explained|discussed|seen) (?:in|by)|I)\b", re.IGNORECASE),
    first_person=re.compile(r"\b(?:we|our|ours|us)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:an alias|a synonym|it|its|he|she|they|their|them|his|her|that|as above|same|see|also|but|and|or|so|however|then|otherwise|instead|note|like|yes|no|not|similar|equivalent|ditto|deprecated|obsolete|alias|synonym|ignored|for example|e\.g)\b", re.IGNORECASE),
    dangling_end=to_word_set("the a an of in on at by for with from to and or but as that which is are was were be been has have its their your e.g i.e etc such than if when"),
    time_questions={"": "When", "until": "Until when", "for": "For how long", "every": "How often", "each": "How often", "within": "Within what time", "by": "By when"},
    own_words={"your": "my", "yourself": "myself", "you": "I"},
    task=re.compile(r"(?P<asked>How (?:to|do I|can I|do you) )?(?P<verb>[A-Za-z]+) (?P<rest>(?!(?:and|or) )[^:,(]+)"),
    manual_heading=re.compile(r"options|description|arguments|flags|parameters", re.IGNORECASE),
    commands_heading=re.compile(r"\b(?:sub-?)?commands\b", re.IGNORECASE),
    before_verb=re.compile(r"(?:Do not|Never|Always|Only|Also) "),
    verb_words=to_word_set("list set output copy print read put filter format log mount parse query sort lists outputs copies prints filters formats logs mounts sorts"),
    verb_start=re.compile(r"[A-Z][a-z]+ (?:the|an?|all|any|whether|how|each)\b|Do not [a-z]"),
    after_noun=to_word_set("of that which used is are"),
    order_start=re.compile(r"(?:Click|Press|See|Note|Works like)\b"),
    infinitive=re.compile(r"(?!)"),
    self_reference=re.compile(r"This (?:option|directive|command|parameter|function|variable|setting|field|flag|switch|keyword|attribute|method|statement|record|button|item|dialog|window|tool|menu|check ?box) (?:just |simply |also )?(?=(?!is\b|has\b|was\b|does\b)[a-z]+s\b)"),
    conditional_start=re.compile(r"(?:If|When|While|Whenever|Otherwise|However|But|Unless)\b"),
    templates={
        "option": "What does the {key} option of {owner} do?", "does_in": "What does {key} do in {owner}?", "what_is": "What {verb} {key}?",
        "purpose": "What is {key} used for?", "cell": "What is the {column} for {key}?",
        "task": "How do I {task}?", "follow_up": "And {key}?",
        "frame_at": "At {owner}, {question}", "frame_in": "In {owner}, {question}", "frame_page": "According to the page {title}, {question}", "quote": "“{}”", "section": "What does {title} say about {heading}?",
    },
)  # fmt: skip
