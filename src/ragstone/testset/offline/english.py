"""English tables for question making."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import DATE, NUMBER, Grammar, compile_patterns, pairs, words
from ragstone.testset.vocabulary import NUMBER_WORDS

_BASE = pairs(
    "contains=contain provides=provide specifies=specify controls=control determines=determine returns=return displays=display "
    "represents=represent defines=define requires=require stores=store enables=enable disables=disable performs=perform "
    "describes=describe lists=list prints=print supports=support offers=offer indicates=indicate includes=include "
    "has=have consists=consist costs=cost takes=take lasts=last allows=allow lets=let permits=permit weighs=weigh seats=seat "
    "opens=open closes=close starts=start ends=end holds=hold covers=cover uses=use accepts=accept recognizes=recognize measures=measure"
)
_TOLD = "|".join(
    [
        "contains",
        "provides",
        "specifies",
        "controls",
        "determines",
        "returns",
        "displays",
        "represents",
        "defines",
        "requires",
        "stores",
        "enables",
        "disables",
        "performs",
        "describes",
        "prints",
        "supports",
        "offers",
        "indicates",
        "includes",
        "covers",
    ]
)
_MADE = "founded|created|released|introduced|built|opened|published|established|designed|developed|started|launched|renamed|invented|discovered|adopted|completed|announced|restored|installed"
_PLACED = "located|stored|kept|found|installed|placed|saved|documented|hosted|held|archived|displayed|recorded|logged"
_DO = "use|run|type|press|click|select|add|set|edit|execute|enter|call|specify|choose|open|invoke|simply|just|you (?:can|need to|must|should|may|have to)|create|install|write|issue|pass|put|go|start|hold|drag|change|configure|give|apply|remove|delete|check|include|send|bring|ask|show|fill|take|visit|book|write"

PATTERNS = compile_patterns(
    [
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>is|are) (?:an?|one of the) (?!(?:good|bad|bit|little|lot|must|matter|common|great|few|number|problem|mistake|part|better|nice|list|follow|very|simple|real|big|valid|special case)\b)(?P<rest>.{25,})", "What {verb} {subject}?", ""),
        ("purpose", "conceptual", r"(?P<subject>@np) (?P<verb>is|are) (?:(?:commonly|mainly|often|usually|primarily|typically|also|normally|generally) )?used (?P<how>to (?!be\b)|for )(?P<rest>.{12,})", "What {verb} {subject} used for?", ""),
        ("allow", "conceptual", r"(?P<subject>@np) (?P<verb>allows|lets|permits|enables) (?:you|users?|the user|administrators?|developers?|the administrator)(?: to)? (?P<rest>.{12,})", "What does {subject} allow users to do?", ""),
        ("tells", "conceptual", rf"(?P<subject>@np) (?P<verb>{_TOLD}) (?P<rest>@object.{{8,}})", "What does {subject} {base}?", ""),
        ("consists", "conceptual", r"(?P<subject>@np) consists of (?P<rest>.{12,})", "What does {subject} consist of?", ""),
        ("stands_for", "factual", r"(?P<subject>[A-Z][A-Za-z]*[A-Z][A-Za-z]*) stands for (?P<answer>[^,;()]{6,60})\.", "What does {subject} stand for?", "{answer}."),
        ("where", "factual", rf"(?P<subject>@np) (?P<verb>is|are) (?P<pp>{_PLACED}) (?P<answer>(?:in|at|on|under) [^,;:()]{{3,70}})\.", "Where {verb} {subject} {pp}?", "{Answer}."),
        ("when", "factual", rf"(?P<subject>@np) (?P<verb>was|were) (?:first |originally |officially |finally )?(?P<pp>{_MADE}) (?:in|on) (?P<answer>@date)\b(?P<rest>.*)", "When {verb} {subject} {pp}?", "{answer}"),
        ("when_opened", "factual", r"(?P<subject>@np) (?P<verb>opened|closed|began|started|ended) (?:in|on) (?P<answer>@date)\b(?P<rest>.*)", "When did {subject} {past}?", "{answer}"),
        ("who", "factual", rf"(?P<subject>@np) (?P<verb>was|were|is|are) (?:first |originally )?(?P<pp>{_MADE}|written|maintained|managed) by (?P<answer>@name)(?P<rest>(?: in @date\b.*|[,;] .*|)\.)", "Who {verb} {subject} {pp} by?", "{answer}"),
        ("how_many", "factual", r"(?P<subject>@np) (?P<verb>has|contains|includes|offers|seats|holds) (?P<answer>@num (?P<unit>(?:[a-z]+ ){0,2}[a-z]{2,}s))(?P<rest>(?:[,;.]| (?:for|in|on|and|with|that|which|at|to|per)\b).*)", "How many {unit} does {subject} {base}?", "{answer}"),
        ("cost", "factual", r"(?P<subject>@np) (?P<verb>costs?) (?P<answer>(?:[$€£]\d[\d.,]*|\d[\d.,]*(?: (?:million|billion))? (?:euros?|dollars?|pounds|cents))(?<![.,])(?: (?:per|a|an|each) [a-z]+)?)(?P<rest>(?:[,;.]| and\b).*)", "How much {do} {subject} cost?", "{answer}"),
        ("how_long", "factual", r"(?P<subject>@np) (?P<verb>takes?|lasts?) (?P<answer>@num (?:to @num )?(?:[a-z]+ )?(?:seconds|minutes|hours|days|weeks|months|years))(?P<rest>(?:[,;.]| and\b).*)", "How long {do} {subject} {base}?", "{answer}"),
        ("default", "factual", r"The default (?:value )?(?:of|for) (?:the )?(?P<subject>`[^`]+`(?: [a-z]+)?|[\w.-]*[_.-][\w.-]+) is (?P<answer>[^,;:()]{1,40})\.", "What is the default value of {subject}?", "{answer}."),
        ("default", "factual", r"(?P<subject>@np) defaults to (?P<answer>[^,;:()]{1,40})\.", "What is the default value of {subject}?", "{Answer}."),
        ("how_to", "how_to", rf"(?:To|If you (?:want|need|wish) to) (?P<subject>(?!be\b|do so)[a-z]+ [^,;:]{{8,90}}), (?P<answer>(?:please )?(?:{_DO}) .{{8,}}[^:])", "How do I {subject}?", "{Answer}"),
        ("how_to", "how_to", r"You (?:can|may|could) (?P<subject>(?!also|use|find|see|do|have|be|not|only|always|then|even)[a-z]+ [^,;:]{8,80}?) (?P<answer>(?:by [a-z]+ing|using|with the|with `) [^;:]{6,})", "How can I {subject}?", "{Answer}"),
        ("condition", "detail", r"(?:If|When) (?P<subject>(?:the |a |an )?`[^`]+`(?: [a-z]+){0,2} (?:is|are|has|does not|is not)\b[^,;:]{2,60}), (?:then )?(?P<answer>(?:the|a|an|all|no|only|any|each|`)[^:]{15,})", "What happens if {subject}?", ""),
    ],
    {
        "np": r"[^,;:()]{2,60}?",
        "date": DATE["en"],
        "num": NUMBER.format(words="|".join(sorted(NUMBER_WORDS["en"]))),
        "name": r"(?:the )?[A-Z][\w’.-]+(?: (?:(?:of|and|de|van|von|the) )?[A-Z][\w’.-]*)*(?<!\.)",
        "object": r"(?:an?|the|all|any|each|every|both|several|many|various|some|information|support|two|three|four|whether|how|what|which|where|`)[ \w`]",
    },
)  # fmt: skip

LIST_INTRO = compile_patterns(
    [
        ("list", "detail", r"(?P<subject>@np) (?P<verb>supports|provides|includes|offers|has|contains|uses|accepts|recognizes|defines) the following (?P<unit>(?:[a-z-]+ ){0,2}[a-z]+s):", "Which {unit} does {subject} {base}?", ""),
        ("list", "detail", r"The following (?P<unit>(?:[a-z-]+ ){0,2}[a-z]+s) (?P<verb>are (?:available|supported|provided|defined|recognized|accepted|allowed|installed)) (?P<subject>(?:in|by|for|with) [^:;,]{3,50}):", "Which {unit} {verb} {subject}?", ""),
    ],
    {"np": r"[^,;:()]{2,60}?"},
)  # fmt: skip

_TASKS = (
    "adding=add installing=install configuring=configure creating=create removing=remove updating=update upgrading=upgrade building=build "
    "running=run writing=write using=use setting=set changing=change managing=manage testing=test deleting=delete importing=import "
    "exporting=export enabling=enable disabling=disable checking=check finding=find searching=search listing=list connecting=connect "
    "customizing=customize downloading=download editing=edit viewing=view printing=print sending=send starting=start stopping=stop "
    "restoring=restore backing=back mounting=mount compiling=compile uploading=upload selecting=select sharing=share copying=copy "
    "moving=move merging=merge replacing=replace defining=define declaring=declare calling=call accessing=access modifying=modify "
    "returning=return booking=book borrowing=borrow ordering=order registering=register reporting=report preparing=prepare "
    "maintaining=maintain encrypting=encrypt monitoring=monitor tracking=track converting=convert dropping=drop"
)
TASK_VERBS = pairs(_TASKS) | {base: base for base in pairs(_TASKS).values() if base not in words("back test report return book print import export list update upgrade search order drop call track access set monitor use share copy start stop check download upload")}  # fmt: skip

ENGLISH = Grammar(
    language="en",
    patterns=PATTERNS,
    base_forms=_BASE,
    articles=words("the a an"),
    closed_words=words(
        "this these those that which who whom whose what when where why how if because although though while since unless until whether and or but nor "
        "so than then there here it its he she they them their his her we us our you your i me my is are was were be been being am do does did done has have "
        "had having can could may might must shall should will would not no never only also very just even still already always often usually sometimes "
        "currently generally normally typically however therefore thus moreover to by with from at into onto about as after before during between through "
        "without within via per each every some many most all both neither either another other such same first second last next one more less any "
        "said says means see note let please try make makes made get gets use uses used using contains provides allows e.g i.e etc simply actually"
    ),
    links=words("of for in on"),
    vague_nouns=words(
        "result results goal goals idea problem problems reason reasons way ways difference purpose point rest others answer question step steps thing things "
        "example examples note case cases fact issue solution choice option advantage disadvantage drawback exception consequence effect aim approach "
        "following section chapter document page table figure list output command line file directory value number name type part process method field "
        "latter former user users people argument parameter default current future past time change changes alternative alternatives recommendation rule "
        "database table system program package function class object version string variable data default documentation guide manual text book work task"
    ),
    bad_starts=words(
        "this these those that it its he she they we you i there here such both all some many most each every another other one two three several as if when while "
        "although because since unless however therefore thus also then so but and or yet nor moreover furthermore instead otherwise finally first second "
        "similarly likewise for in on at by with without to from after before during what which who how why where not no only even just see note please "
        "strictly currently generally usually often sometimes additionally fortunately unfortunately unlike like given using being having doing everything nothing something anything "
        "more less another any part later today now again hence indeed perhaps maybe obviously basically alternatively consequently conversely"
    ),
    question_pointers=re.compile(r"\b(?:this|these|those|it|its|itself|they|them|their|he|she|his|her|him|we|us|our|above|below|following|here|such|former|latter|aforementioned|previous|previously|earlier|same|said|you|your|yours|yourself|and/or|etc|example|respectively|another|other|chapter|figure)\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:this|these|those|it|above|below|following|follows|here|such|former|latter|aforementioned|previous|previously|earlier|(?:next|last) (?:section|chapter|paragraph)|in (?:section|chapter)|(?:section|chapter|figure|table) \d+|instead(?=\.?$)|likewise|similarly|respectively|mentioned|as (?:described|shown|explained|discussed|seen) (?:in|by)|we|our|us|I)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:it|its|he|she|they|their|them|his|her|that|as above|same|see|also|but|and|or|so|however|then|otherwise|instead|note|like|yes|no|not|similar|equivalent|ditto|deprecated|obsolete|alias|synonym|ignored|for example|e\.g)\b", re.IGNORECASE),
    dangling_end=words("the a an of in on at by for with from to and or but as that which is are was were be been has have its their your e.g i.e etc such than if when"),
    openers=re.compile(r"(?:However|Therefore|Thus|Moreover|Furthermore|In addition|Additionally|Also|For instance|In fact|Indeed|Finally|In general|Generally|By the way|In short|Basically|Historically|Strictly speaking|Unfortunately|Fortunately|Nevertheless|On the other hand|In practice|In other words|Consequently|Hence), (?=\S)"),
    task_verbs=TASK_VERBS,
    task_prefix=re.compile(r"How (?:to|do I|can I|do you) (?P<task>[a-z]+ .+)"),
    instructions=re.compile(rf"(?:To [a-z]+ [^,]+, (?:{_DO})|You (?:can|may|need to|must|should|have to) [a-z]+|(?:{_DO}) )", re.IGNORECASE),
    option_heading=re.compile(r"\b(?:options|parameters|arguments|settings|preferences|flags)\b", re.IGNORECASE),
    list_intro=LIST_INTRO,
    description_columns=words("description meaning purpose explanation function action effect summary"),
    verb_start=re.compile(r"(?:[A-Z][a-z]+s (?:the|an?|all|any|that|whether|to|only|how|each|information|on|if|for)\b|(?:Return|Create|Show|Print|Display|Set|Get|Remove|Delete|Add|List|Convert|Check|Read|Write|Open|Close|Enable|Disable|Specify|Send|Start|Stop|Run|Use|Make|Update|Install|Compute|Test|Call|Raise|Register|Do not|Ignore|Include|Exclude|Force|Allow|Limit|Suppress|Perform|Search|Select|Switch|Change|Copy|Move|Replace|Restore|Generate|Treat|Turn|Tell|Give|Keep|Skip|Output|Instead of|Causes?|Apply|Load|Store|Save|Verify|Report|Format|Prevent|Override|Define|Indicate|Prefix|Append|Insert|Record|Fetch|Cancel|Wait|Reset)\b)"),
    telling_verbs=words("contains specifies defines indicates stores represents controls determines describes lists holds includes provides"),
    noun_start=re.compile(r"(?:An?|The|One of) [a-z`]"),
    templates={
        "option": "What does the {key} option of {owner} do?", "option_is": "What does the {key} option of {owner} specify?", "does": "What does {key} do?", "does_in": "What does {key} do in {owner}?", "tells": "What does {key} {verb}?", "what_is": "What is {key}?",
        "purpose": "What is {key} used for?", "default_of": "What is the default value of {key}?", "cell": "What is the {column} of {key}?",
        "task": "How do I {task}?", "stands_for": "What does {key} stand for?", "follow_up": "And {key}?",
        "compare": "What do the options {key} and {other} of {owner} do?", "compare_terms": "What is the difference between {key} and {other}?",
        "frame_at": "At {owner}, {question}", "frame_tool": "With {owner}, {question}", "quote": "“{}”", "both": "{key}: {value}",
    },
)  # fmt: skip
