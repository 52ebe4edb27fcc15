"""Whether a question reads in a usual word order: a trigram model over eight classes of words.

The trigrams are those of questions that people wrote (bench/testset_fluency.py learns and measures them)."""

from __future__ import annotations

import re

from ragstone.testset.offline.frames import drop_frame
from ragstone.text.clause_words import to_word_set

_ASKED = re.compile(
    r"^(¿?)(?:(?:by|until|within|for|up to|to|at|hasta|desde|cada|durante|en|de) )?(?:how (?:much|often|long)|what time|when|cuánto tiempo|cuánto|cuándo|qué plazo)\b",
    re.IGNORECASE,
)
"""What asks for an amount or a time, in whatever words: it reads like `when`."""
# tag of a class → its words; a word in several classes has the first
_CLASSES = {
    "en": {
        "W": to_word_set("what when where which who whom whose why how"),
        "A": to_word_set("is are was were be been being has have had do does did can could may might must shall should will would"),
        "D": to_word_set("the a an"),
        "Q": to_word_set("each every some any all many much more most no his her its their my your our this that these those"),
        "P": to_word_set("of in on at by for with from to into onto about as after before during between through without within until since via per under over like than"),
        "C": to_word_set("and or but nor if because while although that whether"),
        "R": to_word_set("i me you he him she it we us they them there"),
    },
    "es": {
        "W": to_word_set("qué cuándo dónde cuál cuáles quién quiénes cómo cuánto cuánta cuántos cuántas"),
        "A": to_word_set("es son era eran fue fueron está están estaba ha han había hay puede pueden puedo debe deben tiene tienen"),
        "D": to_word_set("el la los las un una unos unas"),
        "Q": to_word_set("cada todo toda todos todas su sus mi mis este esta estos estas ese esa esos esas"),
        "P": to_word_set("de del en a al por para con sin sobre entre desde hasta según durante tras como"),
        "C": to_word_set("y e o u ni que si porque cuando aunque"),
        "R": to_word_set("se le les lo me te nos"),
    },
}  # fmt: skip
# ^ and $ are the ends, X is a word of no class; made by bench/testset_fluency.py, not by hand
USUAL_TRIGRAMS = {
    "en": to_word_set(
        ",AX ,CW ,CX ,DX ,PD ,PX ,RA ,WA ,WX ,X$ ,X, ,XC ,XP ,XX AAD AAQ AAX ADQ ADR ADX APD APQ APR APX AQP AQX AR$ ARA ARD ARP ARX AW$ AWQ AWX AX$ AX, AXA "
        "AXC AXD AXP AXQ AXW AXX CAR CAX CDX CPD CPX CQX CRA CW$ CWA CWX CX$ CX, CXA CXD CXP CXX DAD DQX DR$ DRX DX$ DX, DXA DXC DXD DXP DXQ DXR DXW DXX PA$ "
        "PAD PAP PAW PAX PDR PDX PP$ PPD PPW PPX PQ$ PQP PQX PR$ PRA PRP PRX PW$ PWA PWD PWP PWR PWX PX$ PX, PXA PXC PXD PXP PXQ PXW PXX Q,A QAA QAX QPD QPQ "
        "QPX QQX QRA QRX QX$ QXA QXC QXD QXP QXQ QXW QXX RA$ RAA RAD RAP RAQ RAX RDX RPD RPX RX$ RXD RXP RXQ RXW RXX WAA WAD WAP WAQ WAR WAX WDX WPD WPX WQP "
        "WQX WRA WRX WX$ WXA WXC WXD WXP WXQ WXR WXW WXX X,C X,D X,P X,R X,W X,X XA$ XAA XAD XAP XAQ XAR XAW XAX XC$ XCA XCD XCP XCQ XCW XCX XD$ XDA XDQ XDX "
        "XP$ XPA XPC XPD XPP XPQ XPR XPW XPX XQA XQP XQQ XQR XQX XRA XRX XW$ XWA XWD XWP XWQ XWR XWX XX$ XX, XXA XXC XXD XXP XXQ XXR XXW XXX ^AD ^AR ^AX ^CX "
        "^DX ^PD ^PW ^PX ^QP ^QX ^RA ^WA ^WP ^WQ ^WX ^X, ^XA ^XC ^XD ^XP ^XQ ^XR ^XW ^XX "
    ),
    "es": to_word_set(
        ",AX ,DX ,PD ,PQ ,PW ,PX ,RX ,W$ ,WA ,WR ,WX ,X, ,XC ,XP ADX APD APX AQX ARC AX$ AXC AXD AXP AXQ AXX C,P CAD CAX CDX CPD CPX CRA CRX CWX CX$ CX, CXA "
        "CXC CXD CXP CXQ CXR CXX DCA DCD DCR DCX DPD DPX DX$ DX, DXA DXC DXD DXP DXR DXX P,W PCD PCR PCX PDC PDX PQ$ PQX PRX PW$ PWA PWD PWR PWX PX$ PX, PXA "
        "PXC PXD PXP PXQ PXR PXW PXX QX$ QXA QXD QXP QXX RAD RAX RCR RCX RRX RX$ RXC RXD RXP RXQ RXX WAD WAR WAX WDX WPD WPX WRA WRR WRX WX$ WXA WXC WXD WXP "
        "WXQ WXR WXX X,A X,C X,D X,P X,R X,W X,X XA$ XAD XAP XAQ XAX XC, XCA XCD XCP XCR XCX XDX XP$ XP, XPC XPD XPQ XPR XPW XPX XQX XRA XRR XRX XWR XWX XX$ "
        "XX, XXA XXC XXD XXP XXQ XXR XXW XXX ^CX ^DX ^PD ^PW ^PX ^RX ^WA ^WP ^WR ^WX ^X, ^XA ^XD ^XP ^XW ^XX "
    ),
}  # fmt: skip


def is_fluent(question: str, language: str) -> bool:
    """Whether every three neighbouring classes of words occur in questions that people wrote."""
    usual = USUAL_TRIGRAMS[language]
    return all(trigram in usual for trigram in list_trigrams(question, language))


def list_trigrams(question: str, language: str) -> list[str]:
    """The classes of three neighbouring words each, X for words of no class, from the first (^) to the last ($)."""
    # code and quotes are names, whatever words stand in them
    bare = re.sub(r"`[^`]*`|“[^”]*”|«[^»]*»", "x", drop_frame(question))
    bare = _ASKED.sub("cuándo" if language == "es" else "when", bare)
    classes = _CLASSES[language]
    tags = "^"
    for word in re.findall(r"[\w'’.-]+|,", bare):
        tags += next(
            (tag for tag, members in classes.items() if word.lower() in members),
            "," if word == "," else "X",
        )
    tags = tags.replace("QD", "D") + "$"  # `all the files` reads like `the files`
    return [tags[at : at + 3] for at in range(len(tags) - 2)]
