"""Takes what pages of docs/ link to beside it into the book, as plain text.

The contents, `docs/README.md`, are the order of the book.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)(#[^)]*)?(\))")
CONTENTS = re.compile(r"^\*\*(.+)\*\*$")
ENTRY = re.compile(r"\[([^\]]+)\]\(([a-z-]+\.md)\)")


def on_config(config):
    """Makes the navigation of the contents."""
    nav, pages = [{"All pages": "README.md"}], None
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        if heading := CONTENTS.match(line):
            pages = []
            nav.append({heading[1]: pages})
        elif pages is not None:
            pages += [{title: page} for title, page in ENTRY.findall(line)]
    config.nav = nav
    return config


def beside(page, link):
    """The path in the project that a page of docs/ links to."""
    return posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))


def on_files(files, config):
    """Adds what is linked to."""
    known = set()
    for page in list(files.documentation_pages()):
        for _, link, _, _ in LINK.findall(Path(page.abs_src_path).read_text()):
            path = beside(page.src_uri, link)
            if path not in known and (ROOT / path).is_file():
                known.add(path)
                files.append(File.generated(config, uri(path), abs_src_path=str(ROOT / path)))
    return files


def uri(path):
    """Where a file of the project lies in the book; text is shown, not rendered or saved."""
    is_shown = path.endswith((".txt", ".png", ".svg", ".json"))
    return f"files/{path}" if is_shown else f"files/{path}.txt"


def on_page_markdown(markdown, page, config, files):
    """Leads the links there; a folder has no page, so its name stays without a link."""

    def lead(match):
        path = beside(page.file.src_uri, match[2])
        if (ROOT / path).is_file():
            up = "../" * page.file.src_uri.count("/")
            return f"{match[1]}{up}{uri(path)}{match[4]}"
        return match[0]

    return LINK.sub(lead, markdown)
