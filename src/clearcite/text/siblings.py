"""Things of one class that are not each other: *car* and *motorbike*, *breakfast* and *dinner*, *phone* and *email*.

What holds for one says nothing about another, and an encoder takes them for near the same. Lines hold one class each,
its members parted by ``|``; words of one member mean the same. Common words of any trade, in English and Portuguese,
never of one collection; plurals are understood.
"""

from collections.abc import Collection, Iterable, Iterator

_CLASSES = """
wide width wider widest | length longest longer | high height tall | deep depth | heavy weight weigh weighs | thick
adult | child children kid | infant baby toddler | senior pensioner | student
adoption | birth
aluno estudante | professor docente
apple | pear | plum | cherry | grape | orange | banana | strawberry
bachelor undergraduate | master postgraduate | doctoral phd
bin barrel | box crate | bag sack | pallet | tray
birth | death | marriage
bread | cake | pastry
breakfast | lunch | dinner supper | snack
brick | tile | slate
buyer purchaser | seller vendor
cao caes | gato | cavalo | ovelha | vaca | porco | cabra | coelho | ave passaro
car motorcar automobile | motorbike motorcycle moped scooter | bicycle bike cycle | van | lorry truck
van | lorry truck | trailer | caravan campervan motorhome
carro automovel | mota moto motociclo | bicicleta | carrinha | camiao | reboque
autocarro onibus | comboio trem | aviao voo | barco
cash coins | cheque | card
ceo | cfo | cto | coo
chilled refrigerated cooled | frozen
chrome | firefox | safari | edge
colaborador funcionario empregado | estagiario | voluntario | visitante | cliente | fornecedor
concert | lecture talk | exhibition
cotton | wool | leather | silk
cozinha | banho | quarto | garagem | cave | sotao | varanda | jardim | elevador | escada
cpu processor | memory ram | disk
cup mug | plate | bowl | bottle
database | cache | queue
deposit | rent
dinheiro | cheque | cartao | transferencia
dividend | interest | principal
doctor physician gp | nurse | dentist | pharmacist | surgeon | midwife
doenca | ferias | luto
dog puppy | cat kitten | horse pony | rabbit | bird parrot | hamster | snake reptile
horse pony | sheep lamb | cow cattle calf | pig | goat | chicken hen poultry
driver | passenger | pedestrian | cyclist
egg | milk | butter
email mail | phone telephone telephoned | letter | chat | fax | sms text
encryption | backup | logging
english | french | german | spanish | portuguese | italian | dutch | polish
essay | exam examination | thesis dissertation
flea | tick | worm
football | rugby | cricket | hockey | basketball
gold | silver | bronze | platinum
gym | pool | sauna
helmet | gloves glove | goggles | boots boot | jacket | vest
install installation | upgrade update | uninstall removal
java | python | ruby | php | rust
json | xml | csv | yaml
kayak | canoe | dinghy | yacht | surfboard
kitchen | bathroom toilet | bedroom | garage | cellar basement | attic loft | balcony terrace | garden
lift elevator | stairs staircase
knife | fork | spoon
laptop notebook | desktop | tablet | smartphone mobile handset
printer | scanner | keyboard | headset | projector
maternity | paternity
meat | fish | vegetable | fruit | bread | cheese
member | volunteer | employee staff | contractor freelancer | intern trainee apprentice | visitor guest tourist
tenant | landlord
mother | father | brother sister sibling | grandparent grandmother grandfather | aunt uncle cousin
mysql | postgresql postgres | sqlite | oracle | mongodb
nursery kindergarten | primary | secondary | university
oak | beech | birch | pine | ash
onion | carrot | potato | tomato | cabbage
passport | visa | licence license | certificate
pequeno-almoco cafe-da-manha | almoco | jantar
petrol gasoline | diesel | electric electricity | gas | oil | coal
piano | violin | cello | guitar | flute | trumpet | drum | harp
plastic | glass | paper cardboard | metal aluminium | wood wooden
pregnant pregnancy | breastfeeding
recycling | compost
red | green | blue | yellow | orange | purple
residential household domestic | commercial business
rose | tulip | lily
salary wage | bonus
sand | gravel | cement
towel | blanket | pillow
shirt | trousers | skirt | shoes shoe | coat
shower | bath
sickness sick illness | holiday vacation | parental | bereavement | sabbatical
single | double | triple | twin
ski | snowboard | sledge
solid | liquid
soup | salad | dessert
spay spaying neutering castration | vaccination | microchip
student pupil undergraduate | teacher lecturer tutor | parent guardian
suitcase | backpack | handbag
swimming | sailing | rowing | climbing | tennis | football | badminton | squash
tablet pill | injection | ointment cream | syrup drops
tea | coffee | wine | beer | cider | juice | milk | water
telefone | correio carta | email
tent | caravan | hut
theft stolen | fire | flood | storm | breakage broken
tooth teeth dental | eye | ear | skin
train rail | plane flight air | ferry ship boat | bus coach | taxi cab | tram | metro subway underground
urine | blood | stool | saliva
username | password passphrase | pin
vaccination vaccine | surgery operation | x-ray xray | ultrasound
vermelho | verde | azul | amarelo
wedding marriage | funeral bereavement | birthday | divorce
wheat | barley | maize corn | rye | oats
wifi wlan wireless | ethernet cable wired | bluetooth
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
        word in mine and mine.isdisjoint(present) and not (frozenset().union(*members) & present <= asked)
        for word in words
        for members in _READ
        for mine in members
    )
