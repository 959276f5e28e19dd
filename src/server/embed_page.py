"""Writes the files of the page into a C file (page_files.h), called by meson.

    embed_page.py WEB_FOLDER OUTPUT.c DEPFILE

The depfile names the folders too, so that a new file is noticed by the next build.
"""
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from c_text import c_bytes  # noqa: E402  (found through the path just set)

SUFFIXES = {".html", ".js", ".css", ".svg"}


def main():
    web, output, depfile = map(pathlib.Path, sys.argv[1:])
    everything = sorted(path for path in web.rglob("*") if "node_modules" not in path.parts)
    files = [path for path in everything if path.is_file() and path.suffix in SUFFIXES]
    folders = [web, *(path for path in everything if path.is_dir())]
    text = ['#include "server/page_files.h"\n']
    rows = []
    for number, path in enumerate(files):
        data = path.read_bytes()
        text.append(f"static const unsigned char file_{number}[] =\n{c_bytes(data)};\n")
        etag = hashlib.sha256(data).hexdigest()[:16]
        rows.append(f'    {{"{path.relative_to(web).as_posix()}", "\\"{etag}\\"", file_{number}, {len(data)}}},')
    text.append("const struct page_file page_files[] = {\n" + "\n".join(rows) + "\n};\n")
    text.append("const size_t page_file_count = sizeof page_files / sizeof *page_files;\n")
    output.write_text("\n".join(text))
    depends = " ".join(str(path).replace(" ", "\\ ") for path in [*files, *folders])
    depfile.write_text(f"{output}: {depends}\n")


if __name__ == "__main__":
    main()
