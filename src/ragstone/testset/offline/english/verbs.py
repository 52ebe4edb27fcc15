"""English verbs as a clause reader needs them: which form a word is, and its base form."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ragstone.testset.vocabulary import word_set

Form = Literal["base", "third", "past", "participle"]

AUXILIARIES = word_set(
    "is are was were has have had can could may might must will would should shall does do "
    "did cannot"
)
MODALS = word_set("can could may might must will would should shall cannot")
BE = frozenset(["is", "are", "was", "were"])

_IRREGULAR = """
be was been|become became become|begin began begun|bear bore borne|bind bound bound|bite bit bitten|blow blew blown
break broke broken|bring brought brought|build built built|buy bought bought|catch caught caught|choose chose chosen
come came come|cost cost cost|cut cut cut|deal dealt dealt|draw drew drawn|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed fed|flee fled fled|swear swore sworn|bleed bled bled|feel felt felt|fight fought fought|find found found|fly flew flown
forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got got|give gave given|go went gone
grow grew grown|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|keep kept kept
know knew known|lay laid laid|lead led led|leave left left|lend lent lent|let let let|lie lay lain|lose lost lost
make made made|mean meant meant|meet met met|pay paid paid|put put put|read read read|ride rode ridden
ring rang rung|rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold
send sent sent|set set set|shoot shot shot|show showed shown|shut shut shut|sing sang sung|sink sank sunk
sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|spread spread spread|stand stood stood
steal stole stolen|strike struck struck|swim swam swum|take took taken|teach taught taught|tell told told
think thought thought|throw threw thrown|understand understood understood|undergo underwent undergone
wear wore worn|win won won|withdraw withdrew withdrawn|write wrote written|overcome overcame overcome
oversee oversaw overseen|undertake undertook undertaken|arise arose arisen|split split split|bid bid bid
"""

_REGULAR = """
abandon absorb accept accompany account accuse achieve acquire act adapt add address admit adopt advance affect
agree aid aim allow alter amend announce answer appear apply appoint approach approve argue arrange arrest arrive
ask assassinate assemble assert assign assist assume attack attain attempt attend attract author award base
beat believe belong benefit blame block board boast boil book border borrow broadcast burn bury calculate call campaign
cancel capture carry cause celebrate challenge change charge check claim classify climb close collapse collect colonize combine
command commission compare compete compile complete comprise compose concede conclude conduct confirm connect conquer consider consist consolidate
constitute construct consume contain continue contract contribute control convert convince cook cooperate copy correct count cover create criticize
cross damage dance date decide declare decline decrease dedicate defeat defend define deliver demand demonstrate deny depart depend deploy derive
describe design desire destroy determine develop devise die differ direct disagree discover discuss display dispute dissolve distinguish distribute divide
dominate donate double drop earn educate elect eliminate emerge emphasize employ enable enact encourage end endorse enforce engage enjoy enter
equal escape establish estimate evacuate evaluate evolve examine exceed exchange exclude execute exercise exhibit exile exist expand expect
experience explain exploit explore export express extend face fail favor favour feature fill film finance finish fire fit fix flee flow focus
follow force form found free fulfill function fund gain gather generate govern graduate grant guarantee guard guide handle happen harm harvest
head help host identify ignore illustrate implement imply import impose improve include incorporate increase indicate influence inform inhabit inherit
initiate inspire install insist intend intercept interpret introduce invade invent invest investigate invite involve issue join judge jump kill label lack
land last launch learn leak license lift limit link list listen live load locate look love maintain manage manufacture mark marry measure mend merge
migrate move murder name need negotiate nest note notice number obey object observe obtain occupy occur offer open operate oppose order organize organise
originate outline overthrow own participate pass perform permit persuade place plan plant play point possess post practice practise predict prefer prepare present
preserve press prevent print proceed process proclaim produce prohibit promise promote propose protect protest prove provide publish purchase pursue push
question raise rank reach react realize rebuild recall receive recognize recommend record recover recruit reduce refer reflect reform refund refuse regard
register regulate reign reject relate release relocate rely remain remember remove rename render renew rent repair repeal repeat replace report represent
request require rescue reserve reside resign resist resolve respect respond rest restore restrict result resume retain retire return reveal reverse review revise
revolt reward rise rule sail sample satisfy save schedule score search secure select separate serve settle share shift sign signal sit slow smoke solve
sound sponsor stage start state stay stop store stress stretch strengthen study submit succeed suffer suggest suit supply support suppose surrender surround
survive suspect suspend switch symbolize talk target tend test thank threaten tire touch trace track trade train transfer transform translate transmit transport travel treat
trigger triumph try turn unify unite unlock update upgrade urge use utilize value vary view violate visit vote wait walk want warn wash watch
weaken weigh welcome wish withstand witness wonder work worry yield cease comprise cite coin inspect invade overlook patent pioneer premiere prompt rename
accommodate accelerate accumulate acknowledge activate advertise advise advocate allocate anticipate assess attribute authorize cater certify characterize circulate clean coincide
commemorate communicate compensate concentrate confront convene convey correspond cultivate debut decorate delay delegate descend diagnose disappear discourage dismiss
dispatch disrupt diversify double drain dry ease edit elevate embrace emigrate emit encounter endure enlist enrich ensure envision equip exert extract facilitate finalize flourish
flood foster fracture gamble grade halt highlight hire hold house hunt imagine incite incur indict induce infect inform inject injure insert inspire intensify interact
interview isolate justify knock label lag lecture legislate lobby lock lower magnify mandate march master mature mention mine minimize mobilize model monitor motivate mount multiply narrate nominate
orbit outnumber outlaw outweigh override pack paint park persist pledge plunder populate portray pose pour praise precede preclude preside prevail project prosecute prosper provoke punish
qualify quote ration reassure recede reclaim recount rectify refine reinforce reiterate relieve replicate reproduce resemble restart restructure retreat retrieve reunite revive ridicule roll rotate sack
sanction scatter score sculpt seize sentence shape ship shorten simplify skip slide specialize specify spot stabilize stain steer stem stimulate stipulate structure subdivide subject substitute sue
summarize supersede supervise suppress surpass sustain sweep synthesize tackle tolerate top tour transition trap triple uncover undermine underline unveil uphold visualize volunteer wage widen wound refresh deduct
ravage erect formulate renounce inundate exhume incline besiege sack flee detect deploy depict detain diminish dissipate elaborate embark embody entitle erode evoke excavate exempt
exhaust expel fabricate fluctuate fortify fuel fuse garner graze hamper harness hail hinder ignite impede inaugurate inhibit innovate instruct insulate integrate intervene invoke
lament levy lure mature merit mimic mislead mutate navigate neglect obscure offset originate oust overturn oxidize penetrate perceive petition petrify pitch plague plead polarize postulate
proliferate propagate pump purify rally ravage readmit reap reassign rebrand recite reconstruct redirect refuel regain relegate rely remodel repel reside resort retaliate rival sailed
sample scrutinise scrutinize secrete segregate shelter shrink signify span speculate spur stall station straddle stun subsidize subsist succumb supplement surface surge symbolise tax testify topple traverse
underpin unearth vacate validate vanish veto warrant weather blockade house evaluate encompass reaffirm assert remark reply respond explain
"""


def _third(base: str) -> str:
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


_DOUBLED = word_set(
    "admit commit permit submit plan stop drop ship trap spot slip refer occur prefer "
    "transfer control compel expel knit begin forget equip rebel patrol transmit emit omit "
    "incur skip wrap stem step top slot plug grab scan ban"
)


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    return base + "ed"


@lru_cache(maxsize=1)
def _forms() -> dict[str, dict[Form, str]]:
    """Word → the forms it can be → base form of each."""
    table: dict[str, dict[Form, str]] = {}

    def put(word: str, form: Form, base: str) -> None:
        table.setdefault(word, {}).setdefault(form, base)

    irregular = [
        entry.split() for line in _IRREGULAR.strip().splitlines() for entry in line.split("|")
    ]
    special = {entry[0] for entry in irregular}
    for base, past, participle in irregular:
        put(base, "base", base)
        put(_third(base), "third", base)
        put(past, "past", base)
        put(participle, "participle", base)
    for base in _REGULAR.split():
        if base in special:
            continue
        put(base, "base", base)
        put(_third(base), "third", base)
        put(_past(base), "past", base)
        put(_past(base), "participle", base)
    return table


def forms(word: str) -> dict[Form, str]:
    """The verb forms a lower-case word can be, each with its base form; empty when it is no known verb."""
    found = _forms().get(word)
    if found is not None:
        return found
    # an unknown word in -ed is read as a participle only: enough to follow `was`, too little to lead a clause
    return {"participle": word} if word.endswith("ed") and len(word) > 4 else {}
