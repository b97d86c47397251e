"""Forum threads: question with accepted answer; replies that say nothing are dropped."""

import json
from typing import Any

import pytest

from clearcite.errors import InputError
from clearcite.wire.threads import Post, is_trivial, read_thread, sections


def post(body: str, **more: Any) -> dict[str, Any]:
    base = {"author": "a", "author_role": "community", "created_at": "2026-01-02T03:04:05Z", "body": body}
    return base | {"is_accepted": False, "votes": 0} | more


def thread(*posts: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"thread_id": "1", "title": "T", "posts": list(posts)} | more).encode()


def test_the_accepted_answer_follows_the_question_wherever_it_stands() -> None:
    raw = thread(
        post("How do I restart it when it hangs?"),
        post("No idea, but I have the same question about version two."),
        post("+1"),
        post("Run restart.", is_accepted=True, author_role="staff"),
    )
    assert [(part.heading, part.body) for part in sections(read_thread(raw))] == [
        ("", "How do I restart it when it hangs?"),
        ("Accepted answer (staff, 2026-01-02)", "Run restart."),
        ("Reply (community, 2026-01-02)", "No idea, but I have the same question about version two."),
    ]


@pytest.mark.parametrize(
    "body", ["Thanks!", "+1", "me too", "Same here. Subscribed.", "Obrigado, funcionou muito bem!", ""]
)
def test_social_replies_are_trivial(body: str) -> None:
    assert is_trivial(Post(author="a", author_role="community", created_at="", body=body))


def test_a_short_instruction_is_not_trivial() -> None:
    body = "Set the timeout to 30 seconds and restart."
    assert not is_trivial(Post(author="a", author_role="community", created_at="", body=body))


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b"[]",
        thread(),
        thread(post(" ")),
        thread(post("q", author_role="root")),
        thread(post("q"), extra=1),
        b"{",
    ],
)
def test_what_is_no_thread_is_refused(raw: bytes) -> None:
    with pytest.raises(InputError):
        read_thread(raw)
