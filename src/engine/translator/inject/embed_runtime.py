"""Writes the ELF file of the translator's runtime into a C file (runtime_image.c), called by meson.

    embed_runtime.py RUNTIME.elf OUTPUT.c
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from c_text import c_bytes  # noqa: E402  (found through the path just set)


def main():
    data = pathlib.Path(sys.argv[1]).read_bytes()
    pathlib.Path(sys.argv[2]).write_text(
        "#include \"engine/translator/inject/embedded_runtime.h\"\n\n"
        f"_Alignas(64) const unsigned char embedded_runtime[] =\n{c_bytes(data)};\n"
        f"const size_t embedded_runtime_size = {len(data)};\n")


if __name__ == "__main__":
    main()
