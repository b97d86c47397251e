"""A PDF writer of a few lines, for pages whose every operator a test wants to choose."""

import zlib


def build_pdf(pages: list[str], *, compress: bool = False, title: str = "") -> bytes:
    """One content stream a page; fonts ``/F1`` (Helvetica) and ``/F2`` (Helvetica-Bold)."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    fonts = b"/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> "
    fonts += b"/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
    kids: list[int] = []
    for page in pages:
        stream = page.encode("latin-1")
        extra = b""
        if compress:
            stream, extra = zlib.compress(stream), b" /Filter /FlateDecode"
        objects.append(b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(stream), extra, stream))
        number = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << %s >> >> >>" % (number, fonts)
        )
        kids.append(len(objects))
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    return _file(objects)


def text(x: float, y: float, words: str, *, size: float = 11, bold: bool = False, mode: int = 0) -> str:
    """Operators that draw one string; ``mode`` 3 draws nothing."""
    escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F{2 if bold else 1} {size} Tf {mode} Tr {x} {y} Td ({escaped}) Tj ET\n"


def _file(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    out += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(out)
