"""Writes the ELF file of the translator's runtime into a C file (runtime_image.c), called by meson.

    embed_runtime.py RUNTIME.elf OUTPUT.c
"""
import pathlib
import sys


def main():
    data = pathlib.Path(sys.argv[1]).read_bytes()
    lines = (",".join(map(str, data[at:at + 32])) for at in range(0, len(data), 32))
    pathlib.Path(sys.argv[2]).write_text(
        "#include \"engine/translator/inject/embedded_runtime.h\"\n\n"
        "_Alignas(64) const unsigned char embedded_runtime[] = {\n" + ",\n".join(lines) + "\n};\n"
        "const size_t embedded_runtime_size = sizeof embedded_runtime;\n")


if __name__ == "__main__":
    main()
