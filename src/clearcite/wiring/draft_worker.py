"""The process that reads documents: the parsers, and what follows from one document's text alone.

Run by ``drafting.py`` as ``python -m clearcite.wiring.draft_worker MEMORY SECONDS CHUNK_WORDS LANGUAGE ...``. It
sees content and titles, one document after the other, and no identity, access list, key or file.
"""

import gc
import sys

from clearcite.adapters.parsers.formats import parse_document
from clearcite.adapters.parsers.worker import run
from clearcite.ingest.draft import Recipe
from clearcite.ingest.draft_frames import decode_sheet, encode_draft
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import Vocabulary


def main() -> int:
    gc.set_threshold(50_000, 20, 50)  # many objects and few cycles
    words, *languages = sys.argv[3:]
    recipe = Recipe(analyzer=Analyzer(languages), chunk_words=int(words))
    vocabulary = Vocabulary(recipe.analyzer)

    def answer(asked: bytes, content: bytes) -> bytes:
        sheet = decode_sheet(asked)
        return encode_draft(*recipe.read(parse_document, content, sheet), sheet.language, vocabulary)

    return run(answer)


if __name__ == "__main__":
    sys.exit(main())
