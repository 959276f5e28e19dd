"""Fetches the source of Debian's packages from where the system gets its packages.

By apt-get: the deb lines that are configured are repeated as deb-src lines in a folder of ours, with all state of apt
there too. The system's own configuration is read and left alone, and no package is installed.
"""
import os
import pathlib
import re
import subprocess

SECONDS = 30  # without a byte


class Unavailable(Exception):
    pass


def source_line(line):
    """`deb [options] ...` as `deb-src ...`; None for any other line."""
    match = re.match(r"^deb\s+(.*)$", line.strip())
    return f"deb-src {match.group(1)}" if match else None


def source_stanza(stanza):
    """A paragraph of a .sources file as one of sources alone; None when it is disabled or has no packages."""
    types = re.search(r"^Types:(.*)$", stanza, re.MULTILINE | re.IGNORECASE)
    disabled = re.search(r"^Enabled:\s*(no|false|off|0)\s*$", stanza, re.MULTILINE | re.IGNORECASE)
    if not types or disabled or "deb" not in types.group(1).split():
        return None
    return stanza[:types.start()] + "Types: deb-src" + stanza[types.end():]


def write_sources(etc, folder):
    """Writes source lists for what is configured in `etc` (/etc/apt) into `folder`; whether there are any."""
    lists = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]
    lines = [source_line(line) for path in lists if path.is_file() for line in path.read_text().splitlines()]
    stanzas = [source_stanza(stanza) for path in sorted((etc / "sources.list.d").glob("*.sources"))
               for stanza in re.split(r"\n\s*\n", path.read_text())]
    folder.mkdir(parents=True, exist_ok=True)
    lines, stanzas = [line for line in lines if line], [stanza for stanza in stanzas if stanza]
    (folder / "debian.list").write_text("".join(f"{line}\n" for line in lines))
    (folder / "debian.sources").write_text("\n\n".join(stanza.strip("\n") for stanza in stanzas) + "\n")
    return bool(lines or stanzas)


def last_words(finished):
    """What a program has to complain of, without addresses."""
    lines = finished.stdout.strip().splitlines()
    complaints = [line for mark in ("E:", "W:") for line in lines if line.startswith(mark)]
    words = (complaints or lines or ["it says nothing"])[0]
    return re.sub(r"\s+\w+://\S+", "", words)


def apt_options(apt):
    """Options by which apt-get keeps all that it reads and writes below the folder `apt`, which is made."""
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True)
    if not write_sources(pathlib.Path("/etc/apt"), apt / "sources.list.d"):
        raise Unavailable("apt has no sources of packages")
    return ["-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={apt}/sources.list.d",
            "-o", f"Dir::State::Lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache", "-o", "Acquire::Retries=0", "-o", "APT::Sandbox::User=root",
            "-o", f"Acquire::http::Timeout={SECONDS}", "-o", f"Acquire::https::Timeout={SECONDS}", "-q"]


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C"))


def fetch(packages, folder):
    """Unpacks the sources of these source packages into `folder`: one folder each, as Debian has them unpatched."""
    apt = folder / "apt"
    options = apt_options(apt)
    updated = run(["apt-get", *options, "update"], folder)  # lists that fail need not be the ones
    for package in packages:
        fetched = run(["apt-get", *options, "source", "--download-only", package], folder)
        archives = sorted(folder.glob(f"{package}_*.orig.tar.*"))
        if fetched.returncode or not archives:
            raise Unavailable(f"apt-get source {package}: {last_words(fetched)} (apt-get update: {last_words(updated)})")
        (folder / package).mkdir()
        unpacked = run(["tar", "-xf", archives[0], "-C", package, "--strip-components=1"], folder)
        if unpacked.returncode:
            raise Unavailable(f"{archives[0].name}: {last_words(unpacked)}")
