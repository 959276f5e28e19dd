"""Writes the files that `magic-trace install` unpacks into a C file (installed_files.h), called by meson.

    embed_files.py OUTPUT.c DEPFILE MAN_FOLDER PATH=FILE|PATH=>TARGET ...

PATH is where the file goes, below the prefix; with => it is a symbolic link. The man pages' templates are all that
MAN_FOLDER has.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from c_text import c_bytes  # noqa: E402  (found through the path just set)


def main():
    output, depfile, man, *rows = sys.argv[1:]
    pages = sorted(pathlib.Path(man).glob("*.1.in"))
    rows += [f"share/man/man1/{page.name}={page}" for page in pages]
    text, table = ['#include "cli/installed_files.h"\n'], []
    for number, (path, source) in enumerate(row.split("=", 1) for row in rows):
        if source.startswith(">"):
            table.append(f'    {{"{path}", "{source[1:]}", NULL, 0}},')
            continue
        data = pathlib.Path(source).read_bytes()
        text.append(f"static const unsigned char file_{number}[] =\n{c_bytes(data)};\n")
        table.append(f'    {{"{path}", NULL, file_{number}, {len(data)}}},')
    text.append("const struct installed_file installed_files[] = {\n" + "\n".join(table) + "\n};\n")
    text.append("const size_t installed_file_count = sizeof installed_files / sizeof *installed_files;\n")
    pathlib.Path(output).write_text("\n".join(text))
    pathlib.Path(depfile).write_text(f"{output}: {' '.join(str(path).replace(' ', chr(92) + ' ') for path in [man, *pages])}\n")


if __name__ == "__main__":
    main()
