"""DOCX archives from parts, so that a test can make sound and unsound ones."""

import io
import zipfile

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def build_docx(body: str, *, styles: str = "", core: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """``body`` and ``styles``: what stands inside the root element."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", document(body))
        if styles:
            archive.writestr("word/styles.xml", f'<w:styles xmlns:w="{NAMESPACE}">{styles}</w:styles>')
        if core:
            archive.writestr("docProps/core.xml", f"<core><title>{core}</title></core>")
        for name, content in (more or {}).items():
            archive.writestr(name, content)
    return target.getvalue()


def document(body: str) -> str:
    return f'<w:document xmlns:w="{NAMESPACE}"><w:body>{body}</w:body></w:document>'


def paragraph(text: str, *, style: str = "", run: str = "", extra: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{extra}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"
