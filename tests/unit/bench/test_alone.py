"""What the wording of questions gives away is found where there is something, and nothing is where there is not."""

import random

from bench.alone import log_odds_alone
from bench.shelf import auc
from tests.support.dice import new_seed

TEXTS = 400


def area(openings: dict[bool, list[str]]) -> float:
    """Two questions a text, the one answered and the other not, that begin as their side does."""
    draw = random.Random(new_seed())
    things = ["gate", "fee", "permit", "boiler", "ferry", "rota", "invoice", "key", "lamp", "badge"]
    questions, answered, texts = [], [], []
    for text in range(TEXTS):
        for side in (True, False):
            questions.append(
                f"{draw.choice(openings[side])} the {draw.choice(things)} {draw.choice(things)}?"
            )
            answered.append(side)
            texts.append(text)
    found = log_odds_alone(questions, answered, texts)
    sides: dict[bool, list[int]] = {True: [], False: []}
    for value, side in zip(found, answered, strict=True):
        sides[side].append(round(1000 * value))
    return auc(sides[True], sides[False])


def test_wording_that_differs_by_side_is_found() -> None:
    assert area({True: ["May I use", "Is it"], False: ["Who made", "Why is it"]}) > 0.95


def test_wording_that_is_alike_tells_nothing() -> None:
    both = ["May I use", "Is it", "Who made", "Why is it"]
    assert 0.4 < area({True: both, False: both}) < 0.6


def test_a_text_is_not_judged_by_weights_of_its_own_questions() -> None:
    """Each question has a word of its own, which would tell all sides apart if it had been learned."""
    questions = [f"Is it {'a' * (1 + n % 7)}{n}x" for n in range(2 * TEXTS)]
    answered = [n % 2 == 0 for n in range(2 * TEXTS)]
    found = log_odds_alone(questions, answered, [n // 2 for n in range(2 * TEXTS)])
    sides = [
        [round(1000 * v) for v, side in zip(found, answered, strict=True) if side is want]
        for want in (True, False)
    ]
    assert 0.4 < auc(*sides) < 0.6
