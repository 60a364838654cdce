"""The pages of docs/ as the source of a book, and its links.

gather FOLDER   writes what mdBook reads: the pages, their order, and the files beside docs/ that they link to;
                a folder has no page, so its name is left without a link
follow FOLDER   fails if a link inside the built book leads nowhere
"""

import posixpath
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)#\s]*)(?:#[^)]*)?\)")
PART = re.compile(r"^\*\*(.+)\*\*$")
ENTRY = re.compile(r"\[([^\]]+)\]\(([a-z0-9/-]+\.md)\)")
BOOK = """[book]
title = "Lockstorm"
language = "en"
src = "src"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true
"""


def summary():
    """The order of the book: that of docs/README.md, and the field guide below the hazards."""
    lines = ["# Summary", "", "[All pages](README.md)", ""]
    for line in (DOCS / "README.md").read_text().splitlines():
        if part := PART.match(line):
            lines += ["", f"# {part[1]}", ""]
            continue
        for title, page in ENTRY.findall(line):
            lines.append(f"- [{title}]({page})")
            if page == "hazards.md":
                entries = ENTRY.findall((DOCS / page).read_text())
                lines += [f"  - [{title}]({page})" for title, page in entries if "/" in page]
    return "\n".join(lines) + "\n"


def shown(path):
    """Where a file beside docs/ lies in the book: as plain text, which browsers show."""
    if path.suffix in {".txt", ".png", ".svg", ".json"}:
        return Path("files") / path
    # mdBook takes every .md inside a link for one of its pages.
    return Path("files") / path.with_name(path.name.removesuffix(".md") + ".txt")


def gather(folder):
    src = folder / "src"
    shutil.copytree(DOCS, src)
    (folder / "book.toml").write_text(BOOK)
    (src / "SUMMARY.md").write_text(summary())
    for page in src.rglob("*.md"):
        place = page.relative_to(src).parent

        def lead(link):
            path = Path(posixpath.normpath(posixpath.join("docs", place, link[2])))
            if path.is_relative_to("docs"):
                return link[0]
            if (ROOT / path).is_dir():
                return link[1]
            if not (ROOT / path).exists():
                sys.exit(f"docs/{place}/{page.name}: {link[2]} is not there")
            copy = src / shown(path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, copy)
            return f"[{link[1]}]({posixpath.relpath(shown(path), place)})"

        page.write_text(LINK.sub(lead, page.read_text()))


class Page(HTMLParser):
    """The names and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.names, self.links = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes.get("id"), attributes.get("name")}
        self.links |= {attributes.get("href"), attributes.get("src")} - {None, ""}


def follow(folder):
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    wrong, number = [], 0
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            number += 1
            place, name = urldefrag(link)
            target = (path.parent / unquote(place)).resolve() if place else path
            if not target.exists():
                wrong.append(f"{path.relative_to(folder)}: {link} is not there")
            elif name and target in pages and unquote(name) not in pages[target].names:
                wrong.append(f"{path.relative_to(folder)}: {link} has no such heading")
    if wrong:
        sys.exit("\n".join(sorted(wrong)))
    print(f"docs: {number} links in {len(pages)} pages lead somewhere; open {folder}/index.html")


if __name__ == "__main__":
    {"gather": gather, "follow": follow}[sys.argv[1]](Path(sys.argv[2]).resolve())
