"""The words that handbooks are made of, as plain data: names of things, sentences without facts, fixed replies."""

PLACE_ADJECTIVES = """Willow Cedar Maple Amber Birch Oak Elm Hazel Ivy Rowan Ash Pine Fern Heron Falcon Robin Swan
Otter Badger Fox River Lake Harbour Meadow Orchard Valley Summit Forest Stone Copper Silver Iron Golden Crystal
Marble Coral Pearl Jade Ruby Sunset Winter Summer Autumn Spring North South East West Lantern Anchor Compass
Beacon Thistle Clover Juniper Laurel Saffron Lotus Raven Eagle""".split()
PLACE_KINDS = "House Hall Room Garden Tower Barn Mill Lodge Court Library Cabin Studio".split()
PERSONS = """Marta Tom Anna Ben Clara David Ella Felix Greta Hugo Iris Jonas Kara Leo Mina Nils Olga Peter Rosa
Simon Tara Victor Wanda Yara Zoe Adam Bella Carl Dora Emil Frida Georg Hanna Ivan Julia Karl Lena Max Nora Oscar
Paula Ralph Sara Theo Ulla Vera Walter Alma Bruno Cora Dan Eva Fritz Gina Henry Ida Jack Kate Lucas Maria Nina
Otto Pia Rita Sam Tina Uma Vince Will Agnes Boris Celia Dennis Edith Frank Gloria Harold Irene Jacob Kim Linda
Martin Nadia Oliver Petra Robert Sofia Tim Ursula""".split()
TOWNS = """Ashford Milton Burley Cranmore Dalby Easton Fairview Glenrock Hartley Kelso Langton Marlow Newbury
Oakham Penrith Redhill Selby Tarrant Upton Wexford Yarrow Bolton Camden Dover Exmouth Farnham Grafton Hexham
Ilkley Kendal Ludlow Morley Norwick Preston Ripley Stafford Truro Welby""".split()
ITEM_ADJECTIVES = ("old new small large red blue green wooden copper silver spare heavy long short round "
                   "folding").split()
ITEMS = """ladder kettle lantern hammer rope broom bucket blanket basket wagon tent map drum bell clock camera
printer projector saw shovel wheelbarrow toolbox mirror lamp table bench carpet vase pump piano violin globe
telescope tray teapot whistle helmet flag canoe net""".split()
GROUPS = [
    "choir", "orchestra", "committee", "council", "band", "chess club", "garden club", "sewing circle",
    "rowing team", "running group", "drama group", "film club", "reading group", "cooking class", "dance class",
    "painting class", "first aid course", "hiking group", "debating society", "photo club", "knitting circle",
    "yoga class", "language course", "book club",
]
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
HOURS = "one two three four five six seven eight nine ten eleven noon".split()
COLOURS = "red blue green yellow white black orange purple brown grey pink violet".split()
JOBS = """baker cook gardener plumber painter nurse teacher driver librarian carpenter guard cleaner clerk pilot
tailor doctor farmer singer writer barber porter guide""".split()
FOODS = """soup bread cheese apples plums pears rice noodles honey cake tea coffee cocoa salad beans mushrooms
carrots cherries pancakes olives pasta porridge""".split()

# Parts of made-up names.
SYLLABLES = [onset + vowel
             for onset in "b d f g h k l m n p r s t v w z br dr gr tr st".split() for vowel in "a e i o u".split()]
CODAS = ["", "n", "r", "l", "s", "m", "nd", "th", "ck"]

TITLES = ["# Handbook", "# House handbook", "# Staff handbook", "# Visitor handbook", "# Village handbook", "Handbook"]
INSTRUCTIONS = ["You answer questions about the handbook.", "Answer from the handbook.",
                "Use the handbook to answer.", "You are a helpful guide. Answer from the handbook.", ""]
SECTIONS = {
    "place": ["## Buildings", "## Places", "## Rooms and buildings"],
    "person": ["## People", "## Staff"],
    "item": ["## Things", "## Equipment", "## Store list"],
    "group": ["## Clubs", "## Groups and courses"],
    "town": ["## Travel", "## Buses"],
    "mixed": ["## Notes", "## General", "## More notes", "## Daily life"],
}

# Sentences that state no fact anybody asks for.
FILLERS = """Please keep the paths clear at all times.
Visitors sign the book by the main door.
Wear sturdy shoes when it rains.
The staff are happy to help with any question.
Lost things are handed in at the front desk.
Please close the windows before you leave.
Dogs are welcome but must stay on a lead.
The water is turned off during a hard frost.
We ask all guests to be quiet after dark.
Waste is sorted into three bins.
In case of fire, leave by the nearest exit and do not run.
Everyone helps to wash up after dinner.
This page is checked once a year.
Bicycles can be left beside the fence.
A first aid kit hangs in every corridor.
Please report broken lights as soon as you can.
The grass is cut every second week.
Children must not climb on the walls.
Take only what you need and put it back.
The notice board shows the latest news.
Smoking is not allowed inside any building.
Keep your badge with you during the visit.
Parcels are brought to the desk in the morning.
Guests bring their own towels.
The heating is lowered at night.
Do not feed the birds near the pond.
Ask before you take pictures of other people.
The paths are lit until late in the evening.
Every building is cleaned before the weekend.
Spare chairs are stacked along the wall.
New members get a short tour on the first day.
Thank you for reading these pages with care.""".split("\n")

NOT_FOUND = "I do not find that in the handbook."
# (what a user may say, the fixed reply)
SMALL_TALK = [
    (["Hello", "Hello!", "Hi", "Hi!", "Hello there!", "Good morning", "Good morning!", "Hey"],
     "Hello! Ask me about the handbook."),
    (["Who are you?", "What are you?", "What can you do?", "What is your name?"],
     "I am a small demo model. I answer questions about the handbook."),
    (["Thanks", "Thanks!", "Thank you", "Thank you!", "Thank you very much!", "Great, thanks!"],
     "You are welcome."),
    (["Bye", "Bye!", "Goodbye", "Goodbye!", "Good night"], "Goodbye!"),
]
OFF_TOPIC = [
    "What is the weather today?",
    "Tell me a joke.",
    "How old are you?",
    "What is two plus two?",
    "Who won the match?",
    "What is the meaning of life?",
    "Can you sing a song?",
    "What time is it?",
    "Write a poem about the sea.",
    "Do you like music?",
    "Who is the president?",
    "What is the capital of France?",
    "How do I bake a cake?",
    "Translate this into French.",
]
