"""Handbooks and chats about them, drawn at random from a seeded generator.

A handbook is a text of simple sentences, most of which state a fact: (relation, key, value), such as ("gate", "Ash
Room", "0417"). A chat is a handbook as the system message, and turns of question and answer. Each fact is drawn anew
for every handbook, so a model can only answer by finding it in its context.

The order in which random numbers are drawn is part of the result: changing it changes handbook.txt and questions.json.
"""
from collections import namedtuple
from dataclasses import dataclass

from words import (CODAS, COLOURS, DAYS, FILLERS, FOODS, GROUPS, HOURS, INSTRUCTIONS, ITEM_ADJECTIVES, ITEMS, JOBS,
                   NOT_FOUND, OFF_TOPIC, PERSONS, PLACE_ADJECTIVES, PLACE_KINDS, SECTIONS, SMALL_TALK, SYLLABLES, TITLES,
                   TOWNS)


@dataclass
class Relation:
    """One kind of fact. {k} stands for the key, {v} for the value.

    All answers read "<subject> is <value>." or "<subject> is not in the handbook.", so that a model decides between
    the two at the place where it looks the value up.
    """
    key_kind: str
    statements: list
    questions: list
    subject: str
    unit: str = ""


RELATIONS = {
    "gate": Relation(
        key_kind="place",
        statements=[
            "The gate code of {k} is {v}.",
            "To enter {k}, use the gate code {v}.",
        ],
        questions=[
            "What is the gate code of {k}?",
            "Which code opens the gate of {k}?",
            "Tell me the gate code of {k}.",
            "What code do I need to enter {k}?",
        ],
        subject="The gate code of {k}",
    ),
    "opens": Relation(
        key_kind="place",
        statements=[
            "The opening time of {k} is {v}.",
            "{k} opens at {v}.",
            "The doors of {k} open at {v}.",
        ],
        questions=[
            "When does {k} open?",
            "What is the opening time of {k}?",
            "At what time does {k} open?",
        ],
        subject="The opening time of {k}",
    ),
    "closes": Relation(
        key_kind="place",
        statements=[
            "The closing time of {k} is {v}.",
            "{k} closes at {v}.",
            "The doors of {k} close at {v}.",
        ],
        questions=[
            "When does {k} close?",
            "What is the closing time of {k}?",
            "At what time does {k} close?",
        ],
        subject="The closing time of {k}",
    ),
    "care": Relation(
        key_kind="place",
        statements=[
            "The caretaker of {k} is {v}.",
            "{k} is looked after by {v}.",
        ],
        questions=[
            "Who looks after {k}?",
            "Who is the caretaker of {k}?",
            "Who takes care of {k}?",
        ],
        subject="The caretaker of {k}",
    ),
    "tag": Relation(
        key_kind="place",
        statements=[
            "The key tag of {k} is {v}.",
            "The key of {k} has a {v} tag.",
        ],
        questions=[
            "What colour is the key tag of {k}?",
            "Which tag does the key of {k} have?",
            "What colour is the tag on the key of {k}?",
        ],
        subject="The key tag of {k}",
    ),
    "seats": Relation(
        key_kind="place",
        statements=[
            "The number of seats in {k} is {v}.",
            "{k} has {v} seats.",
        ],
        questions=[
            "How many people fit in {k}?",
            "How many seats are there in {k}?",
            "How many seats does {k} have?",
        ],
        subject="The number of seats in {k}",
    ),
    "pass": Relation(
        key_kind="place",
        statements=[
            "The password for {k} is {v}.",
            "In {k}, the password is {v}.",
        ],
        questions=[
            "What is the password for {k}?",
            "Which password do I use in {k}?",
            "Tell me the password for {k}.",
        ],
        subject="The password for {k}",
    ),
    "kept": Relation(
        key_kind="item",
        statements=[
            "The {k} is kept in {v}.",
            "You can find the {k} in {v}.",
            "The place of the {k} is {v}.",
        ],
        questions=[
            "Where is the {k} kept?",
            "Where can I find the {k}?",
            "Where is the {k}?",
        ],
        subject="The place of the {k}",
    ),
    "price": Relation(
        key_kind="item",
        statements=[
            "The {k} costs {v} coins.",
            "The price of the {k} is {v} coins.",
        ],
        questions=[
            "How much does the {k} cost?",
            "What is the price of the {k}?",
            "What does the {k} cost?",
        ],
        subject="The price of the {k}",
        unit=" coins",
    ),
    "meets": Relation(
        key_kind="group",
        statements=[
            "The {k} meets on {v}.",
            "Every {v}, the {k} comes together.",
            "The meeting day of the {k} is {v}.",
        ],
        questions=[
            "When does the {k} meet?",
            "On which day does the {k} meet?",
            "What is the meeting day of the {k}?",
        ],
        subject="The meeting day of the {k}",
    ),
    "leads": Relation(
        key_kind="group",
        statements=[
            "The leader of the {k} is {v}.",
            "The {k} is led by {v}.",
        ],
        questions=[
            "Who leads the {k}?",
            "Who is the leader of the {k}?",
        ],
        subject="The leader of the {k}",
    ),
    "phone": Relation(
        key_kind="person",
        statements=[
            "The extension of {k} is {v}.",
            "Call {k} on extension {v}.",
        ],
        questions=[
            "What is the extension of {k}?",
            "How can I call {k}?",
            "Which extension does {k} have?",
            "What is the phone number of {k}?",
        ],
        subject="The extension of {k}",
    ),
    "home": Relation(
        key_kind="person",
        statements=[
            "The home town of {k} is {v}.",
            "{k} comes from {v}.",
        ],
        questions=[
            "Where does {k} come from?",
            "What is the home town of {k}?",
            "Which town does {k} come from?",
        ],
        subject="The home town of {k}",
    ),
    "job": Relation(
        key_kind="person",
        statements=[
            "The job of {k} is {v}.",
            "{k} works as a {v}.",
        ],
        questions=[
            "What is the job of {k}?",
            "What does {k} do for a living?",
            "What work does {k} do?",
        ],
        subject="The job of {k}",
    ),
    "likes": Relation(
        key_kind="person",
        statements=[
            "The favourite food of {k} is {v}.",
            "{k} likes {v} best.",
        ],
        questions=[
            "What is the favourite food of {k}?",
            "What does {k} like best?",
            "Which food does {k} like best?",
        ],
        subject="The favourite food of {k}",
    ),
    "bus": Relation(
        key_kind="town",
        statements=[
            "The bus to {k} leaves at {v}.",
        ],
        questions=[
            "When does the bus to {k} leave?",
            "At what time does the bus to {k} leave?",
            "When is the bus to {k}?",
        ],
        subject="The departure of the bus to {k}",
    ),
}

RELATIONS_OF = {}
for _name, _relation in RELATIONS.items():
    RELATIONS_OF.setdefault(_relation.key_kind, []).append(_name)

# How often a fact is about a key of this kind.
KEY_KIND_WEIGHTS = {"place": 40, "person": 26, "item": 16, "group": 11, "town": 7}

# One message of a chat. `info` is set for answers that can be scored: the relation, "absent" or "talk".
Message = namedtuple("Message", "role text info")


def made_up_name(rng):
    """A random name that can be pronounced, so that words of several unseen tokens are learned too."""
    name = (rng.choice(SYLLABLES) + rng.choice(SYLLABLES) * (rng.random() < .7) + rng.choice(SYLLABLES)[:2]
            + rng.choice(CODAS))
    return name.capitalize()


class Facts:
    """The facts of one handbook, and the keys they are about.

    `made_up` is the share of made-up names. `few` is the probability that the handbook has few relations over many keys:
    what makes a long handbook hard, in a short one.
    """

    def __init__(self, rng, made_up=0.1, few=0.0):
        self.rng = rng
        self.made_up = made_up
        self.relations = rng.sample(list(RELATIONS), rng.randint(1, 4)) if rng.random() < few else list(RELATIONS)
        self.keys = {kind: [] for kind in RELATIONS_OF}
        self.values = {}

    def new_key(self, kind):
        rng = self.rng
        odd = rng.random() < self.made_up
        if kind == "place":
            return (made_up_name(rng) if odd else rng.choice(PLACE_ADJECTIVES)) + " " + rng.choice(PLACE_KINDS)
        if kind == "person":
            return made_up_name(rng) if odd else rng.choice(PERSONS)
        if kind == "town":
            return made_up_name(rng) if odd else rng.choice(TOWNS)
        if kind == "item":
            return (rng.choice(ITEM_ADJECTIVES) + " " if rng.random() < .5 else "") + rng.choice(ITEMS)
        return rng.choice(GROUPS)

    def new_value(self, relation):
        rng = self.rng
        if relation == "gate":
            return "".join(rng.choice("0123456789") for _ in range(4))
        if relation == "phone":
            return rng.choice("123456789") + "".join(rng.choice("0123456789") for _ in range(2))
        if relation == "seats":
            return str(rng.randrange(4, 100))
        if relation == "price":
            return str(rng.randrange(2, 100))
        if relation in ("opens", "closes", "bus"):
            return ("half past " if rng.random() < .25 else "") + rng.choice(HOURS)
        if relation == "pass":
            return rng.choice(ITEM_ADJECTIVES) + " " + rng.choice(ITEMS)
        kind = {"kept": "place", "care": "person", "leads": "person", "home": "town"}.get(relation)
        if kind:
            return self.new_key(kind)
        return rng.choice({"tag": COLOURS, "meets": DAYS, "job": JOBS, "likes": FOODS}[relation])

    def add(self):
        """A new fact, or None where fifty attempts only met known ones."""
        rng = self.rng
        kinds = sorted({RELATIONS[name].key_kind for name in self.relations})
        kind = rng.choices(kinds, [KEY_KIND_WEIGHTS[k] for k in kinds])[0]
        for _ in range(50):
            keys = self.keys[kind]
            key = rng.choice(keys) if keys and rng.random() < .55 else self.new_key(kind)
            relation = rng.choice([name for name in RELATIONS_OF[kind] if name in self.relations])
            if (relation, key) not in self.values:
                if key not in keys:
                    keys.append(key)
                self.values[relation, key] = self.new_value(relation)
                return relation, key, self.values[relation, key]
        return None

    def absent(self):
        """A (relation, key) that the handbook does not state: a known key without that relation, or an unknown key."""
        rng = self.rng
        while True:
            relation = rng.choice(self.relations if rng.random() < .8 else list(RELATIONS))
            kind = RELATIONS[relation].key_kind
            known = self.keys[kind] and rng.random() < .35 and len(self.relations) > 1
            key = rng.choice(self.keys[kind]) if known else self.new_key(kind)
            if (relation, key) not in self.values:
                return relation, key


def state(rng, fact):
    """A sentence of a handbook that states the fact."""
    relation, key, value = fact
    return rng.choice(RELATIONS[relation].statements).format(k=key, v=value)


def ask(rng, relation, key):
    """A question for the value."""
    return rng.choice(RELATIONS[relation].questions).format(k=key)


def answer(relation, key, value=None):
    """The one expected answer; without a value: the handbook does not say."""
    said = value + RELATIONS[relation].unit if value else "not in the handbook"
    return f"{RELATIONS[relation].subject.format(k=key)} is {said}."


def handbook(rng, facts, count, filler=0.25):
    """Returns the text of a handbook of about `count` facts, and the list of the facts in it."""
    stated = [fact for fact in (facts.add() for _ in range(count)) if fact]
    sections = {}
    if rng.random() < .6:
        for fact in stated:
            sections.setdefault(RELATIONS[fact[0]].key_kind, []).append(fact)
    else:
        size = rng.randrange(5, 16)
        for i, fact in enumerate(stated):
            sections.setdefault(("mixed", i // size), []).append(fact)
    order = list(sections)
    rng.shuffle(order)
    text = [rng.choice(TITLES)]
    one_sentence_per_line = rng.random() < .25
    for section in order:
        sentences = []
        for fact in sections[section]:
            sentences.append(state(rng, fact))
            if rng.random() < filler:
                sentences.append(rng.choice(FILLERS))
        title = rng.choice(SECTIONS[section if isinstance(section, str) else "mixed"])
        text.append(title + "\n" + ("\n" if one_sentence_per_line else " ").join(sentences))
    return "\n\n".join(text), stated


def chat(rng, fact_count, turns, made_up=0.1, absent=0.12, small_talk=0.06, few=0.0):
    """One sample: a list of Message. `absent` and `small_talk` are the shares of such turns."""
    facts = Facts(rng, made_up, few)
    messages, stated = [], []
    if fact_count:
        text, stated = handbook(rng, facts, fact_count, rng.choice([0, .15, .3]))
        instruction = rng.choice(INSTRUCTIONS)
        messages.append(Message("system", (instruction + "\n\n" if instruction else "") + text, None))
    todo = rng.sample(stated, min(len(stated), turns)) if stated else []
    for _ in range(turns):
        draw = rng.random()
        if draw < small_talk or (not stated and draw < .7):
            said, reply = rng.choice(SMALL_TALK) if rng.random() < .75 else (OFF_TOPIC, NOT_FOUND)
            messages += [Message("user", rng.choice(said), None), Message("assistant", reply, "talk")]
        elif draw < small_talk + absent or not stated:
            relation, key = facts.absent()
            messages += [Message("user", ask(rng, relation, key), None),
                         Message("assistant", answer(relation, key), "absent")]
        else:
            if not todo:  # everything has been asked once
                todo = rng.sample(stated, len(stated))
            relation, key, value = todo.pop()
            messages += [Message("user", ask(rng, relation, key), None),
                         Message("assistant", answer(relation, key, value), relation)]
    return messages
