"""Writes the page as one HTML file around a trace that it carries, into a C file (standalone_page.h); called by meson.

    inline_page.py WEB_FOLDER OUTPUT.c DEPFILE

All modules become one: each a function that is called once, after those that it imports, and returns its exports.
This understands the modules of web/ and no others: imports and exports of names, each in a line of its own; anything
else ends the build. The Content-Security-Policy lets in what is here, by its hashes, and nothing else.
"""
import base64
import hashlib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from c_text import c_bytes  # noqa: E402  (found through the path just set)

IMPORT = re.compile(r"^import \{ ?([\w$, ]+?),? ?\} from '(\.{1,2}/[\w./-]+\.js)';$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*? |class |const )(\w+))", re.MULTILINE)
HOLE = "\0"  # where the trace goes


class Bundle:
    """The modules that were added, in an order in which they can be evaluated."""

    def __init__(self):
        self.numbers = {}  # by path; None while its imports are being added
        self.text = []

    def add(self, path):
        path = path.resolve()
        if path in self.numbers:
            if self.numbers[path] is None:
                sys.exit(f"{path}: modules import each other in a circle")
            return self.numbers[path]
        self.numbers[path] = None
        text = path.read_text()

        def take(match):
            number = self.add(path.parent / match.group(2))
            return f"const {{ {match.group(1).replace(' as ', ': ')} }} = module{number};"

        text = IMPORT.sub(take, text)
        names = EXPORT.findall(text)
        text = EXPORT.sub("", text)
        unknown = re.search(r"^(import|export)\b.*|\bimport\(\s*['\"`]|\bimport\.meta\b", re.sub(
            r"/\*.*?\*/", "", text, flags=re.DOTALL), re.MULTILINE)
        if unknown:
            sys.exit(f"{path}: {unknown.group(0)!r} is no import or export that this understands")
        number = self.numbers[path] = len(self.text)
        self.text.append(f"const module{number} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();\n")
        return number


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def replace_once(html, pattern, replacement):
    html, count = re.subn(pattern, lambda _: replacement, html)
    if count != 1:
        sys.exit(f"index.html has {count} times {pattern!r}, not once")
    return html


def standalone(web):
    """(the page with a hole for the trace, the files that it was made of)"""
    html = (web / "index.html").read_text()
    style_links = r'<link rel="stylesheet" href="app/([^"]+)">\n'
    sheets = [web / name for name in re.findall(style_links, html)]
    style = "\n".join(sheet.read_text() for sheet in sheets)
    html = re.sub(style_links, "", html)
    bundle = Bundle()
    bundle.add(web / "main.js")
    script = "\n" + "".join(bundle.text)
    for text, end in ((style, "</style"), (script, "</script")):
        if end in text.lower() or "<!--" in text:
            sys.exit(f"the page's text has {end!r} or '<!--' in it, so it cannot be put into one file")
    icon = "data:image/svg+xml;base64," + base64.b64encode((web / "icon.svg").read_bytes()).decode()
    html = replace_once(html, r'href="app/icon\.svg"', f'href="{icon}"')
    policy = (f"default-src 'none'; script-src {hash_of(script)}; style-src {hash_of(style)}; img-src data:; "
              "base-uri 'none'; form-action 'none'")
    html = replace_once(html, r'<meta charset="utf-8">', '<meta charset="utf-8">\n'
                        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
                        '<meta name="referrer" content="no-referrer">')
    html = replace_once(html, r'<script type="module" src="app/main\.js"></script>',
                        f'<style>{style}</style>\n<script type="application/json" id="trace">{HOLE}</script>\n'
                        f'<script type="module">{script}</script>')
    return html, [web / "index.html", web / "icon.svg", *sheets, *bundle.numbers]


def main():
    web, output, depfile = map(pathlib.Path, sys.argv[1:])
    html, files = standalone(web)
    head, tail = (part.encode() for part in html.split(HOLE))
    output.write_text(f"""#include "server/standalone_page.h"

static const unsigned char head[] =
{c_bytes(head)};

static const unsigned char tail[] =
{c_bytes(tail)};

const struct standalone_page standalone_page = {{head, {len(head)}, tail, {len(tail)}}};
""")
    depends = " ".join(str(path).replace(" ", "\\ ") for path in files)
    depfile.write_text(f"{output}: {depends}\n")


if __name__ == "__main__":
    main()
