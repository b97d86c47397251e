"""A forum thread as JSON → one text: the question, the accepted answer, and replies that say something."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Struct

from clearcite.errors import InputError
from clearcite.wire.convert import Limits, from_json
from clearcite.wire.strict import loads

_TRIVIAL_WORDS = 5
_SOCIAL_WORDS = 16
_SOCIAL = (
    *("thank", "thanks", "thx", "obrigad", "gracias", "same here", "same issue", "same problem", "me too"),
    *("+1", "subscribed", "following", "bump", "any news", "any update", "solved it", "works now"),
    *("that worked", "it worked"),
)


class Post(Struct, frozen=True, kw_only=True):
    author: Annotated[str, Limits(least=1, most=200)]
    author_role: Literal["staff", "community"]
    created_at: str
    body: Annotated[str, Limits(most=1_000_000)]
    is_accepted: bool = False
    votes: int = 0


class Thread(Struct, frozen=True, kw_only=True):
    """The first post is the question."""

    thread_id: Annotated[str, Limits(least=1, most=200)]
    title: Annotated[str, Limits(least=1, most=1000)]
    posts: Annotated[tuple[Post, ...], Limits(least=1, most=5000)]
    url: Annotated[str, Limits(most=2000)] | None = None
    product_version: str | None = None
    tags: Annotated[tuple[str, ...], Limits(most=100)] = ()
    created_at: str | None = None


class Section(Struct, frozen=True, kw_only=True):
    """One part of the text: its heading (none for the question), and the body as it was written."""

    heading: str
    body: str
    is_answer: bool = False


def looks_like_thread(value: Any) -> bool:
    return isinstance(value, dict) and "thread_id" in value and "posts" in value


def read_thread(raw: bytes | str) -> Thread:
    """Raises InputError for JSON that is not a thread."""
    thread = from_json(Thread, loads(raw), what="the thread")
    if not thread.posts[0].body.strip():
        raise InputError("the thread has no question")
    return thread


def sections(thread: Thread) -> Iterator[Section]:
    """Question first, accepted answers next, then other replies in order; trivial ones are left out."""
    question, replies = thread.posts[0], thread.posts[1:]
    yield Section(heading="", body=question.body)
    for post in replies:
        if post.is_accepted and post.body.strip():
            yield Section(heading=f"Accepted answer ({_by(post)})", body=post.body, is_answer=True)
    for post in replies:
        if not post.is_accepted and not is_trivial(post):
            yield Section(heading=f"Reply ({_by(post)})", body=post.body)


def is_trivial(post: Post) -> bool:
    """Too short to say anything, or short and only social."""
    words = post.body.split()
    if len(words) < _TRIVIAL_WORDS:
        return True
    lowered = post.body.lower()
    return len(words) <= _SOCIAL_WORDS and any(phrase in lowered for phrase in _SOCIAL)


def _by(post: Post) -> str:
    return f"{post.author_role}, {post.created_at[:10]}"
