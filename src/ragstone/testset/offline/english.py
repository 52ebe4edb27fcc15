"""The English grammar: what each table is for is said in grammar.py."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import Grammar
from ragstone.text.clause_words import to_word_set

_PRAISE = r"(?:\w+ )?(?:good|great|nice|important|useful|better|more|very|new|different|part|example|way|case|number|lot|bit|matter|problem|successor|kind)\b"

ENGLISH = Grammar(
    language="en",
    definition=re.compile(rf"(?P<subject>[^,;:()]{{2,60}}?) (?P<verb>is|are) an? (?!{_PRAISE})(?P<rest>[a-z].{{15,}})"),
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
    manual_heading=re.compile(r"options|description|arguments|flags|parameters", re.IGNORECASE),
    commands_heading=re.compile(r"\b(?:sub-?)?commands\b", re.IGNORECASE),
    before_verb=re.compile(r"(?:Do not|Never|Always|Only|Also) "),
    verb_words=to_word_set("list set output copy print read put filter format log mount parse query sort lists outputs copies prints filters formats logs mounts sorts"),
    verb_start=re.compile(r"[A-Z][a-z]+ (?:the|an?|all|any|whether|how|each)\b|Do not [a-z]"),
    after_noun=to_word_set("of that which used is are"),
    order_start=re.compile(r"(?:Click|Press|See|Note|Works like)\b"),
    infinitive=re.compile(r"(?!)"),
    self_reference=re.compile(r"This (?:option|directive|command|parameter|function|variable|setting|field|flag|switch|keyword|attribute|method|statement|record|button|item|dialog|window|tool|menu|check ?box) (?:just |simply |also )?(?=(?!is\b|has\b|was\b|does\b)[a-z]+s\b)"),
    glossary=re.compile(r"\b(?:glossary|terminology|definitions)\b", re.IGNORECASE),
    templates={
        "option": "What does the {key} option of {owner} do?", "what_is": "What {verb} {key}?",
        "purpose": "What is {key} used for?", "cell": "What does the table {place} give for {key} in the column {column}?", "of": "of {}", "under": "under the heading {label} of {home}", "follow_up": "And {key}?",
        "frame_at": "At {owner}, {question}", "frame_in": "In {owner}, {question}", "frame_page": "According to {owner}, {question}", "quote": "“{}”", "heading": "What does {home} say under the heading {label}?", "list": "What does {home} list under the heading {label}?", "home_manual": "the manual page of `{}`", "home_readme": "the README of {}", "home_part": "{title} in the {product} documentation", "glossary": "What does {term} mean in {home}?", "follow_up_heading": "And under the heading {key}?",
    },
)  # fmt: skip
