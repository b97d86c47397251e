"""Things of one class that are not each other: *car* and *motorbike*, *breakfast* and *dinner*, *chilled* and *frozen*.

What holds for one says nothing about another, and an encoder takes them for near the same. Lines hold one class each,
its members parted by ``|``; words of one member mean the same. Common words of any trade, in English and Portuguese,
never of one collection; regular plurals are understood. Where naming the other is an answer (*by card?* *cash only*),
or a word often has another sense, it does not stand here.
"""

from collections.abc import Collection, Iterable, Iterator

_CLASSES = """
adoption | birth
apple | pear | plum | cherry | grape | orange | banana | strawberry
autocarro onibus | comboio trem | aviao voo | barco
bachelor | master | doctoral phd
breakfast | lunch | dinner supper | snack
almoco | jantar
brick | tile | slate
cao caes | gato | cavalo | ovelha | vaca | porco | cabra | coelho | ave passaro
car motorcar automobile | motorbike motorcycle moped scooter | bicycle bike | van | lorry truck
carro automovel | mota moto motociclo | bicicleta | carrinha | camiao | reboque
chilled refrigerated cooled | frozen
cotton | wool | leather | silk
dog puppy | cat kitten | horse pony | rabbit | bird parrot | hamster | snake reptile
egg | milk | butter
english | french | german | spanish | portuguese | italian | dutch
football | rugby | cricket | hockey | basketball
frances | alemao | espanhol | portugues | italiano | ingles
gym | pool | sauna
helmet | gloves glove | goggles | boots boot | jacket | vest
horse pony | sheep lamb | cow cattle calf | pig | goat | chicken hen poultry
kayak | canoe | dinghy | yacht | surfboard
kitchen | bathroom toilet | bedroom | garage | cellar basement | attic loft | balcony terrace | garden
maternity | paternity
meat | fish | vegetable | fruit | bread | cheese
mother | father | brother sister sibling | grandparent grandmother grandfather | aunt uncle cousin
mysql | postgresql postgres | sqlite | oracle | mongodb
oak | beech | birch | pine
onion | carrot | potato | tomato | cabbage
petrol gasoline | diesel
piano | violin | cello | guitar | flute | trumpet | drum | harp
pregnant pregnancy | breastfeeding
recycling | compost
red | green | blue | yellow | orange | purple
rose | tulip | lily
salary wage | bonus
sand | gravel | cement
shirt | trousers | skirt | shoes shoe | coat
shower | bath
ski | snowboard | sledge
soup | salad | dessert
suitcase | backpack | handbag
swimming | sailing | rowing | climbing | tennis | football | badminton | squash
tent | caravan | hut
tooth teeth dental | eye | ear | skin
railway | ferry | bus | taxi cab | tram
van | lorry truck | trailer | caravan campervan motorhome
vermelho | verde | azul | amarelo
wedding marriage | funeral bereavement | birthday | divorce
wheat | barley | maize | rye | oats
windows | macos mac | linux | android | ios iphone
"""


def _plurals(word: str) -> Iterator[str]:
    yield word
    if word[-1].isalpha() and word[-1] != "s":
        yield f"{word}s"
    if word.endswith(("x", "ch", "sh", "o")):
        yield f"{word}es"
    if word.endswith("y"):
        yield f"{word[:-1]}ies"


_READ = tuple(
    tuple(frozenset(form for word in side.split() for form in _plurals(word)) for side in line.split("|"))
    for line in _CLASSES.strip().splitlines()
)


def says_sibling(words: Iterable[str], said: Collection[str], question: Collection[str]) -> bool:
    """Whether for one of these words, which a text has not, another of its class is said that the question does not
    name. All are folded; ``said`` are the words of the text."""
    present, asked = frozenset(said), frozenset(question)
    return any(
        word in mine
        and mine.isdisjoint(present)
        and any(not other.isdisjoint(present) and other.isdisjoint(asked) for other in members)
        for word in words
        for members in _READ
        for mine in members
    )
