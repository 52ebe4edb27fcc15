"""The English grammar: what each table is for is said in grammar.py. The first pattern that matches a sentence is used."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import (
    DATE,
    NUMBER,
    Grammar,
    compile_patterns,
    fill_names,
    parse_pairs,
)
from ragstone.testset.vocabulary import NUMBER_WORDS
from ragstone.text.clause_words import to_word_set

_IMPERATIVES = "use|run|type|press|click|select|add|set|edit|execute|enter|call|specify|choose|open|invoke|simply|just|create|install|write|issue|pass|put|go|start|hold|drag|change|configure|give|apply|remove|delete|check|include|send|bring|ask|show|fill|take|visit|book|write"

PATTERNS = compile_patterns(
    [
        ("definition", "conceptual", r"(?P<subject>(?!The )@np) (?P<verb>is) the (?!(?:minimal|minimum|current|latest|same|only|following|best|first|one|second|third|most|case|right|latter|last|next|main|default|reason|result|value|number|recommended|name|registered)\b)(?P<rest>.{15,})", "What {verb} {subject}?", ""),
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>is|are) an? (?!(?:attempt|important|useful|powerful|popular|recommended|strategy|major|good|registered|trademark|sign|good|bad|bit|little|lot|must|matter|operation|second|third|common|great|few|number|problem|mistake|part|better|nice|list|follow|very|simple|real|big|valid|special case|violation|requirement|subset|consequence|result|case|way|step|reason|good|example|more|new|different)\b)(?P<rest>.{15,})", "What {verb} {subject}?", ""),
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>are) (?P<rest>(?!(?:not|also|only|all|now|often|usually|always|very|more|in|on|at|to|for|available|able|likely|given|made|built|set|run|put|sent|kept|held|found|shown|read|subject|part|due|other|similar|\w+(?:ed|en|ing|ly))\b)[a-z-]+(?: [a-z-]+){0,3} (?:that|which|used) .{8,})", "What are {subject}?", ""),
        ("part", "conceptual", r"(?P<subject>The @np) (?P<verb>is) (?:the|an?) (?P<rest>(?!first|only|same|best|last)(?:[a-z-]+ ){1,3}(?:that|which|where) .{12,})", "What {verb} {subject}?", ""),
        ("meaning", "conceptual", r"(?P<subject>(?!(?:The|An?) )@np) (?P<verb>means) that (?P<rest>.{15,})", "What does {subject} mean?", ""),
    ],
    {"np": r"[^,;:()]{2,60}?"},
)  # fmt: skip
_NAMES = {
    "subject": r"(?P<subject>[^\t]{2,70})",
    "be": r"(?P<verb>is|are|was|were)",
    "aux": r"(?P<verb>is|are|was|were|can|may|must|should|will)",
    "participle": r"(?:[a-z]+ed|built|sold|held|kept|paid|lent|sent|shown|taken|given|written|made|put|brought|closed|handed in|found|left|worn|seen|read|cut|set|drawn|driven|led|run|spent|done|met|told|bought|begun)",
    "person": r"[A-Z][\w’'-]+(?: (?:[a-z]{2,3} )?[A-Z][\w’'-]+){1,3}",
    "title": r"(?:(?:Mrs?|Ms|Dr|Prof)\.? )?",
    "role": r"(?:[a-zA-Z-]+ ){0,3}(?:director|manager|head|lead|leader|chair|chairman|chairwoman|warden|teacher|headteacher|principal|officer|coordinator|secretary|treasurer|president|founder|owner|curator|librarian|editor|administrator|supervisor|doctor|nurse|consultant|engineer|architect|mayor|minister|coach|trainer|caretaker|landlord|conductor)(?: of [a-z ]{3,30})?",
    "name": r"(?:the )?[A-Z][\w’.-]+(?: (?:(?:of|and|de|van|von|the|&) )?[A-Z&][\w’.-]*)*(?<!\.)",
    "date": DATE["en"],
    "money": r"(?:[$€£]\d[\d.,]*(?<![.,])|\d[\d.,]*(?<![.,])(?:p|%| (?:euros?|dollars?|pounds|cents|pence|per cent))(?!\w))(?: million| billion)?",
    "per": r"(?: (?:per|a|an|each|for|of|once|towards|including|excluding) [^,;:()\d]{1,40}|(?: each| extra| in total)){0,2}",
    "units": r"(?:[a-z-]+ ){0,2}(?:[a-z]{2,}(?<![su])s|people|children)(?: of [a-z]+(?: [a-z]+)?)?",
    "unit": r"(?:(?:working|calendar|business|full) )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)",
    "num": NUMBER.format(words="|".join(sorted(NUMBER_WORDS["en"]))),
    "where": r"(?: (?:a|an|per|each|every|in|on|at|from|for) [^,;:()\d]{2,40})?",
    "time": r"(?P<answer>(?P<prep>\S+)(?: [^\t]*)?)",
}  # fmt: skip
_APPOSITION = r"\b(?:(?P<role>[Tt]he @role), (?P<name>@title@person)(?=[,.])|(?P<first>@person), (?P<called>the @role)(?=[,.]))"
PREDICATES = compile_patterns(
    [
        ("who", "factual", r"@subject\t(?P<verb>was|were)\t(?:first |originally )?(?P<pp>[a-z]+ed|built) by (?P<answer>@name)(?: in @date.*|, .*|)", "Who {pp} {subject}?", "{answer}"),
        ("who", "factual", r"@subject\t@be\t(?P<pp>[a-z]+ed|built|written|run|led) by (?P<answer>@name)(?: in @date.*|, .*|)", "By whom {verb} {subject} {pp}?", "{answer}"),
        ("who", "factual", r"(?P<subject>(?:The|the) @role)\t(?P<verb>is)\t(?P<answer>@title@person)(?:, .*)?", "Who is {subject}?", "{answer}"),
        ("when", "factual", r"@subject\t(?P<verb>was|were)\t(?:first |originally |officially |finally )?(?P<pp>@participle) (?:in|on) (?P<answer>@date)(?: .*)?", "When {verb} {subject} {pp}?", "{answer}"),
        ("when", "factual", r"@subject\t(?P<verb>[a-z]+ed|began)\t(?:in|on) (?P<answer>@date)(?:,? .*)?", "When did {subject} {base}?", "{answer}"),
        ("where", "factual", r"@subject\t@be\t(?P<pp>located|stored|kept|found|installed|placed|saved|documented|hosted|held|archived|displayed|recorded|logged) (?P<answer>(?:in|at|on|under) [^,;:()]{3,70})", "Where {verb} {subject} {pp}?", "{Answer}."),
        ("place", "factual", r"(?P<subject>The [^\t]+)\t@be\t(?P<answer>(?:in|on|at|near|opposite|beside|behind|next to) (?!the (?:left|right|right-hand|left-hand|process|case|middle|way|form|hands|same|list|market|heart of)\b)(?:the [a-z]+|[A-Z][a-z]+)[^,;:()]{3,60})", "Where {verb} {subject}?", "{Answer}."),
        ("place", "factual", r"@subject\t(?P<verb>goes|go|belongs?)\t(?P<answer>(?:in|into|to|on) the [^,;:()]{3,50})", "Where {do} {subject} {base}?", "{Answer}."),
        ("where", "factual", r"@subject\t(?P<verb>can|may|must)\tbe (?P<pp>bought|rented|collected|borrowed|handed in|returned|picked up|found|downloaded|seen|paid|ordered|dropped off) (?P<answer>(?:in|at|from) [^,;:()]{4,60})", "Where {verb} {subject} be {pp}?", "{Answer}."),
        ("cost", "factual", r"@subject\t@be\t(?P<answer>(?:up to |at least |about )?@money@per)", "How much {verb} {subject}?", "{answer}"),
        ("cost", "factual", r"@subject\t(?P<verb>costs?|pays?|charges?|earns?|receives?|costed|paid|charged)\t(?P<answer>(?:up to |at least |about )?@money@per)", "How much {do} {subject} {base}?", "{answer}"),
        ("cost", "factual", r"@subject\t@aux\t(?P<rest>(?:be )?[a-z]+ed) (?P<limit>up to|to|at) (?P<answer>@money@per)", "{Limit} how much {verb} {subject} {rest}?", "{answer}"),
        ("cost", "factual", r"@subject\t(?P<verb>can|may|must)\t(?P<act>[a-z]+) (?P<answer>(?:up to |at least |no more than )?@money@per)", "How much {verb} {subject} {act}?", "{answer}"),
        ("how_long", "factual", r"@subject\t(?P<verb>takes?|lasts?|lasted)\t(?P<answer>(?:up to |about |around |between )?@num (?:(?:to|and) @num )?@unit)", "How long {do} {subject} {base}?", "{answer}"),
        ("how_long", "factual", r"(?P<subject>You)\t(?P<verb>have)\t(?P<answer>@num @unit) (?P<rest>(?:from [^,;:]{4,40} )?to [a-z]+ [^,;:()]{4,60})", "How long do I have {rest}?", "{answer}"),
        ("size", "factual", r"@subject\t@be\t(?P<answer>@num [a-z]+) (?P<how>high|long|wide|deep|tall|thick)(?: and .*)?", "How {how} {verb} {subject}?", "{answer}"),
        ("size", "factual", r"@subject\t(?P<verb>must|should)\tbe (?P<answer>(?:at least |no more than |at most |up to |exactly )?@num [a-z]+) (?P<how>high|long|wide|deep|tall|thick)", "How {how} {verb} {subject} be?", "{answer}"),
        ("size", "factual", r"@subject\t(?P<verb>weighs?)\t(?P<answer>@num [a-z]+)", "How much {do} {subject} weigh?", "{answer}"),
        ("how_many", "factual", r"@subject\t(?P<verb>(?!is|are|was|were|can|may|must|should|will|takes?|lasts?)[a-z]+)\t(?P<answer>@num (?!@unit(?: and .*)?$)(?P<unit>@units))(?P<rest>@where)(?: and .*)?", "How many {unit} {do} {subject} {base}{rest}?", "{answer}"),
        ("how_many", "factual", r"@subject\t(?P<verb>can|may|must)\t(?P<act>(?!be\b)[a-z]+) (?P<answer>(?:up to |at most |at least )?@num (?P<unit>@units))(?P<rest>@where)", "How many {unit} {verb} {subject} {act}{rest}?", "{answer}"),
        ("how_many", "factual", r"There\t(?P<verb>are)\t(?P<answer>@num (?P<unit>@units)) (?P<subject>(?:in|on|at|beside|near|behind|under|for|between) [^,;:()]{4,50})", "How many {unit} are there {subject}?", "{answer}"),
        ("time", "factual", r"@subject\t@be\t(?P<answer>(?:on |from |in )?@date(?: to @date)?)", "When {verb} {subject}?", "{Answer}."),
        ("time", "factual", r"@subject\t@aux\t(?P<rest>(?:not |only |also )?(?:be )?(?:open|closed|available|free|valid|due|at [a-z]+ [a-z]+|@participle)\b(?: [^,;:()\s\d]+){0,6}?)\t@time", "{Wh} {verb} {subject} {rest}?", "{Answer}."),
        ("time", "factual", r"@subject\t(?P<verb>(?!is|are|was|were|can|may|must|should|will|has|have|takes?\\t(?!place)|lasts?)[a-z]+)\t(?P<rest>(?:[^,;:()\s\d]+ ?){0,5}?)\t@time", "{Wh} {do} {subject} {base} {rest}?", "{Answer}."),
    ],
    _NAMES,
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
TASK_VERBS = parse_pairs(_TASKS) | {base: base for base in parse_pairs(_TASKS).values() if base not in to_word_set("back test report return book print import export list update upgrade search order drop call track access set monitor use share copy start stop check download upload")}  # fmt: skip

_SOFTWARE = re.compile(
    r"\b(?:program|tool|utility|library|application|server|client|package|system|language|framework|editor|protocol|distribution|daemon|module|extension|software|implementation|interface|platform)\b"
)

ENGLISH = Grammar(
    language="en",
    patterns=PATTERNS,
    predicates=PREDICATES,
    apposition=re.compile(fill_names(_APPOSITION, _NAMES)),
    advice=re.compile(r"If (?P<case>you(?! (?:want|wish|would|prefer|like|need)\b)r? [^,;:]{4,70}), (?:please )?(?P<first>[a-z]+)(?P<rest> [^;]{8,})"),
    articles=to_word_set("the a an"),
    closed_words=to_word_set(
        "this these those that which who whom whose what when where why how if because although though while since unless until whether and or but nor "
        "so than then there here it its he she they them their his her we us our you your i me my is are was were be been being am do does did done has have "
        "had having can could may might must shall should will would not no never only also very just even still already always often usually sometimes "
        "now currently generally normally typically however therefore thus moreover to by with from at into onto about as after before during between through "
        "without within via per each every some many most all both neither either another other such same first second last next one more less any new newer recent latest old older current modern typical optional additional "
        "said says means see note let please try make makes made get gets use uses used using contains provides allows e.g i.e etc simply actually"
    ),
    links=to_word_set("of for in on"),
    wide_links=to_word_set("of for in on to from under with at between"),
    vague_nouns=to_word_set(
        "result results repository details information goal goals idea problem problems reason reasons way ways difference purpose point rest others answer question step steps thing things "
        "example examples note case cases fact issue solution choice option advantage disadvantage drawback exception consequence effect aim approach format formats "
        "following section chapter document page table figure list output command line file directory value number name type part process method field "
        "latter former user users people argument parameter default current future past time change changes alternative alternatives recommendation rule "
        "database table system program package function class object version string variable data default documentation guide manual text book work task service utility tool module directive protocol"
    ),
    bad_starts=to_word_set(
        "this these those that it its he she they we you i there here such both all some many most each every another other one two three several as if when while "
        "although because since unless however therefore thus also then so but and or yet nor moreover furthermore instead otherwise finally first second "
        "similarly likewise for in on at by with without to from after before during what which who how why where not no only even just see note please "
        "various different nonetheless nevertheless meanwhile accordingly strictly currently generally usually often sometimes additionally fortunately unfortunately unlike like given using being having doing everything nothing something anything "
        "more less another any part later today now again hence indeed perhaps maybe obviously basically alternatively consequently conversely"
    ),
    question_pointers=re.compile(r"\b(?:(?:do|can) I \w+ that|this|these|those|it|its|itself|they|them|their|he|she|his|her|him|we|us|our|above|below|following|here|such|former|latter|aforementioned|previous|previously|earlier|same|said|you|your|yours|yourself|and/or|etc|lines?|example|respectively|another|other|chapter|figure|on the (?:left|right)|respective|current|selected|(?:the|a|an) (?:given|specified|supplied|pasted|detected|highlighted|chosen|resulting|desired|corresponding|appropriate|relevant))\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:this|these|those|them|there(?! (?:is|are|was|were|may|can|must|will|has|have))|it|above|below|following|follows|here|such(?! as)|former|latter|aforementioned|previous|previously|earlier|(?:next|last) (?:section|chapter|paragraph)|in (?:section|chapter)|(?:section|chapter|figure|table) (?:[A-Z]\.)?\d|instead(?=\.?$)|(?:the|all|any) others?(?! than)|likewise|similarly|respectively|mentioned|as (?:described|shown|explained|discussed|seen) (?:in|by)|I)\b", re.IGNORECASE),
    next_step=re.compile(rf"(?:{_IMPERATIVES}|then|next|now|after|finally|repeat|double-click|right-click)\b", re.IGNORECASE),
    first_person=re.compile(r"\b(?:we|our|ours|us)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:an alias|a synonym|it|its|he|she|they|their|them|his|her|that|as above|same|see|also|but|and|or|so|however|then|otherwise|instead|note|like|yes|no|not|similar|equivalent|ditto|deprecated|obsolete|alias|synonym|ignored|for example|e\.g)\b", re.IGNORECASE),
    dangling_end=to_word_set("the a an of in on at by for with from to and or but as that which is are was were be been has have its their your e.g i.e etc such than if when"),
    openers=re.compile(r"(?:However|Therefore|Thus|Moreover|Furthermore|In addition|Additionally|Also|For instance|In fact|Indeed|Finally|In general|Generally|By the way|In short|Basically|Historically|Strictly speaking|Unfortunately|Fortunately|Nevertheless|On the other hand|In practice|In other words|Consequently|Hence), (?=\S)"),
    time_questions={"": "When", "until": "Until when", "for": "For how long", "every": "How often", "each": "How often", "within": "Within what time", "by": "By when"},
    task_verbs=TASK_VERBS,
    own_words={"your": "my", "yourself": "myself", "you": "I"},
    task_prefix=re.compile(r"How (?:to|do I|can I|do you) (?P<task>[a-z]+ .+)"),
    manual_heading=re.compile(r"option|description|argument|flags|command(?!s)|parameter", re.IGNORECASE),
    option_start=re.compile(r"(?:Only|Do|If|When|With|Never|Always|Instead|For|`)\b|(?:[A-Z][a-z]+s|Return|Create|Show|Print|Display|Set|Get|Remove|Delete|Add|List|Convert|Check|Read|Write|Open|Close|Enable|Disable|Specify|Send|Start|Stop|Run|Use|Make|Update|Install|Test|Ignore|Include|Exclude|Force|Allow|Limit|Suppress|Perform|Search|Select|Switch|Change|Copy|Move|Replace|Output|Exit|Skip|Keep|Report|Turn|Load|Save|Wait|Turn|Require|Treat|Process) (?!that|which|of|for|in|used|is|are)"),
    value_columns=re.compile(r"(?:(?:default|maximum|minimum|storage) )?(?:size|price|cost|fee|date|year|default|port|capacity|height|length|weight|duration|license|address|phone|opening hours|hours|unit|format|capital|language|range|deadline|population|area|colou?r|material|location|depth|distance|speed|release date)s?\b", re.IGNORECASE),
    verb_start=re.compile(r"(?:[A-Z][a-z]+s (?:the|an?|all|any|whether|how|each)\b|(?:Return|Create|Show|Print|Display|Set|Get|Remove|Delete|Add|List|Convert|Check|Read|Write|Open|Close|Enable|Disable|Specify|Send|Start|Stop|Run|Use|Make|Update|Install|Compute|Test|Call|Raise|Register|Do not|Ignore|Include|Exclude|Force|Allow|Limit|Suppress|Perform|Search|Select|Switch|Change|Copy|Move|Replace|Restore|Generate|Treat|Turn|Tell|Give|Keep|Skip|Output|Instead of|Causes?|Apply|Load|Store|Save|Verify|Report|Format|Prevent|Override|Define|Indicate|Prefix|Append|Insert|Record|Fetch|Cancel|Wait|Reset)\b(?! (?:of|for|that|which|used)\b))"),
    third_person=re.compile(r"[A-Z][a-z]+(?<!s)s\b"),
    background_start=re.compile(r"(?:The default|Normally|By default|Usually|Some|Typically|Often|Currently|Many|Most|In|There|For|Since|On|At|As|Unless|Without|You|Works like|Because|Although|Historically|True|False|Used|Set (?:to|by|if|when)|Reserved|Default|\S+ (?:is|are|was|were|has|can|may|must|should|will|normally|usually|always|never|runs|uses|does))\b"),
    self_reference=re.compile(r"This (?:option|directive|command|parameter|function|variable|setting|field|flag|switch|keyword|attribute|method|statement|record|button|item|dialog|window|tool|menu|check ?box) (?:just |simply |also )?(?=(?!is\b|has\b|was\b|does\b)[a-z]+s\b)"),
    conditional_start=re.compile(r"(?:If|When|While|Whenever|Otherwise|However|But|Unless)\b"),
    telling_verbs=to_word_set("contains specifies defines indicates stores represents controls determines describes lists holds includes provides"),
    finite_verbs=to_word_set("contains provides specifies returns displays represents defines stores describes prints supports indicates includes shows lists reports records generates checks controls determines offers holds takes is are was were has have can may must will should does do did been cannot"),
    noun_start=re.compile(r"(?:An?|The|One of) [a-z`]"),
    attributes=(
        (_SOFTWARE, re.compile(r"\b(?:1[89]|20)\d\d\b|\brelease"), "When was {subject} first released?"),
        (_SOFTWARE, re.compile(r"\b(?:by|author|authors|wrote|written|developed|maintain\w*|creat\w+|invent\w+)\b"), "Who originally wrote {subject}?"),
        (_SOFTWARE, re.compile(r"\b(?:memory|RAM|MB|GB|megabytes|gigabytes)\b"), "How much memory does {subject} need?"),
        (re.compile(r"\b(?:company|cooperative|corporation|foundation|society|organi[sz]ation|hospital|manufacturer)\b"), re.compile(r"\b(?:1[89]|20)\d\d\b|\bfound|since"), "When was {subject} founded?"),
    ),
    templates={
        "option": "What does the {key} option of {owner} do?", "option_is": "What does the {key} option of {owner} specify?", "does_in": "What does {key} do in {owner}?", "what_is_in": "What is {key} in {owner}?", "what_is": "What is {key}?",
        "purpose": "What is {key} used for?", "cell": "What is the {column} of {key}?", "cell_for": "What is the {column} for {key}?",
        "task": "How do I {task}?", "who_is": "Who is {role}?", "advice": "What should I do if {case}?", "stands_for": "What does {key} stand for?", "follow_up": "And {key}?",
        "frame_at": "At {owner}, {question}", "frame_tool": "With {owner}, {question}", "frame_in": "In {owner}, {question}", "frame_page": "According to the page {title}, {question}", "quote": "“{}”", "section": "What does {title} say about {heading}?",
    },
)  # fmt: skip
