"""What the pages need beside Markdown when mkdocs builds the site; on the repository's page they read well without.

Fences with `file=NAME` get a title; `\\|` in the code of tables loses its backslash; files outside of docs/ that pages link to become pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
OUTSIDE = "source"
LINK = re.compile(r"(\]\()([\w./-]+)((?:#[\w-]+)?\))")
FENCE = re.compile(r"^(```\w+) file=(\S+)$", re.M)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
LANGUAGES = {".py": "python", ".toml": "toml", ".ptx": "ptx", ".md": ""}


def where(page: str) -> str:
    """The place in the repository of a page of the site."""
    if not page.startswith(OUTSIDE + "/"):
        return posixpath.join("docs", page)
    place = page.removeprefix(OUTSIDE + "/").removesuffix(".md")
    return place + ".md" if (ROOT / (place + ".md")).is_file() else place + "/" if (ROOT / place).is_dir() else place


def page_of(place: str) -> str:
    """The page of the site for a file or folder of the repository."""
    place = place.rstrip("/")
    if place == "docs" or place.startswith("docs/"):
        return posixpath.relpath(place, "docs")
    if (ROOT / place).is_dir():
        readme = f"{place}/README.md"
        return page_of(readme) if (ROOT / readme).is_file() else f"{OUTSIDE}/{place}.md"
    return f"{OUTSIDE}/{place.removesuffix('.md')}.md"


def target(page: str, link: str) -> str:
    """The place in the repository that a link of a page means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(where(page)), link))


def links(page: str, text: str) -> list[str]:
    """The places outside of docs/ that a page links to."""
    found = (target(page, m[2]) for m in LINK.finditer(CODE.sub("", text)))
    return [t for t in found if not t.startswith("docs/") and t != "docs" and (ROOT / t).exists()]


def content(place: str) -> str:
    """A file or folder of the repository as Markdown."""
    path = ROOT / place
    if path.is_dir():
        names = sorted(p.name for p in path.iterdir() if p.suffix in LANGUAGES)
        return f"# {place}\n\n" + "\n".join(f"- [{n}]({n})" for n in names) + "\n"
    if path.suffix == ".md":
        return path.read_text()
    return f"# {place}\n\n~~~~{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}\n~~~~\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds pages for what lies outside of docs/."""
    todo = [(f.src_uri, f.content_string) for f in files.documentation_pages()]
    known = {page for page, _ in todo}
    while todo:
        page, text = todo.pop()
        for place in links(page, text):
            new = page_of(place)
            if new not in known:
                known.add(new)
                text_of = content(place if (ROOT / place).is_file() or not (ROOT / place / "README.md").is_file() else f"{place}/README.md")
                files.append(File.generated(config, new, content=text_of))
                todo.append((new, text_of))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text as mkdocs wants it."""
    source = page.file.src_uri

    def moved(m: re.Match[str]) -> str:
        place = target(source, m[2])
        if not (ROOT / place).exists():
            return m[0]
        return m[1] + posixpath.relpath(page_of(place), posixpath.dirname(source) or ".") + m[3]

    parts, last = [], 0
    for m in CODE.finditer(markdown):
        parts += [LINK.sub(moved, markdown[last : m.start()]), m[0].replace("\\|", "|") if not m[0].startswith("```") else m[0]]
        last = m.end()
    parts.append(LINK.sub(moved, markdown[last:]))
    return FENCE.sub(r'\1 title="\2"', "".join(parts))
