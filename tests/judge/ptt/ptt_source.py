"""Fetches the source of libipt from where the system gets its packages, and builds its pttc.

By apt-get: the deb lines that are configured are repeated as deb-src lines in a folder of ours, with all state of apt
there too. The system's own configuration is read and left alone. Mirrors drop old releases and keep the lists that name
them; then it is a release of newer Debian, from the same folder of the pool.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request

import watchdog

LIBRARY = "libipt-dev"  # whose source it is
TOOLS = {"apt-get": "apt", "dpkg-query": "dpkg", "dpkg-source": "dpkg-dev", "cmake": "cmake", "cc": "gcc",
         "yasm": "yasm"}
# Releases as Debian has them, the newest first: version, SHA-256 of the .orig.tar.gz (of its Sources.xz, and computed).
RELEASES = [("2.1.2", "713d3e76b6c3073b122a9f5b6c025bc301a0436582f132caf782814363acf60f")]
LONGEST_ARCHIVE = 16 << 20  # these have less than 1 MB
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
    (folder / "ptt.list").write_text("".join(f"{line}\n" for line in lines))
    (folder / "ptt.sources").write_text("\n\n".join(stanza.strip("\n") for stanza in stanzas) + "\n")
    return bool(lines or stanzas)


def run(command, folder):
    return watchdog.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                        env=dict(os.environ, LC_ALL="C"))


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
            "-o", f"Dir::State::Lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache", "-o", "Acquire::Retries=0",
            "-o", f"Acquire::http::Timeout={SECONDS}", "-o", f"Acquire::https::Timeout={SECONDS}", "-q"]


def download(address, sha256):
    """The bytes at `address` when they are the ones with this SHA-256."""
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            archive = answer.read(LONGEST_ARCHIVE)
    except (OSError, ValueError) as error:
        raise Unavailable(str(error)) from error
    if hashlib.sha256(archive).hexdigest() != sha256:
        raise Unavailable("it is another file than it was: its SHA-256 is not the one in tests/judge/ptt/ptt_source.py")
    return archive


def fetch_release(address, folder):
    """One of RELEASES from where the archive at `address` should be, unpacked into `folder`."""
    pool = address.rpartition("_")[0]
    faults = []
    for version, sha256 in RELEASES:
        archive = folder / f"{version}.orig.tar.gz"
        try:
            archive.write_bytes(download(f"{pool}_{version}.orig.tar.gz", sha256))
        except Unavailable as reason:
            faults.append(f"{version} from the same folder: {reason}")
            continue
        unpacked = run(["tar", "-xzf", archive], folder)
        if not unpacked.returncode:
            return
        faults.append(f"{version}: {last_words(unpacked)}")
    raise Unavailable("; ".join(faults))


def fetch_with(options, package, folder):
    """By apt-get with these options, else a release of newer Debian."""
    updated = run(["apt-get", *options, "update"], folder)  # lists that fail need not be the one
    printed = run(["apt-get", *options, "--print-uris", "source", package], folder)
    address = re.search(r"^'(\S+\.orig\.tar\.\w+)'", printed.stdout, re.MULTILINE)
    if not address:
        raise Unavailable(f"no list of sources names {package}: apt-get update: {last_words(updated)}")
    fetched = run(["apt-get", *options, "source", package], folder)
    if fetched.returncode:
        print(f"apt-get source {package}: {last_words(fetched)}: taking a release of newer Debian", flush=True)
        fetch_release(address.group(1), folder)


def fetch(work):
    """The folder of the source, unpacked; fetched unless it is there."""
    there = [path.parent for path in work.glob("source/*/pttc")]
    if there:
        return there[0]
    name = run(["dpkg-query", "-W", "-f", "${source:Package}", LIBRARY], work)
    if name.returncode:
        raise Unavailable(f"{LIBRARY} is not installed")
    apt, folder = work / "apt", work / "fetched"  # `source` is what is whole
    for old in (apt, folder, work / "source", work / "build"):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir()
    try:
        fetch_with(apt_options(apt), name.stdout.strip(), folder)
    finally:
        shutil.rmtree(apt, ignore_errors=True)
    there = [path.parent for path in folder.glob("*/pttc")]
    if not there:
        raise Unavailable("there is no pttc in what was fetched")
    folder.rename(work / "source")
    return work / "source" / there[0].name


def fetch_and_build(work):
    """(folder of the .ptt files, pttc)"""
    missing = sorted(package for tool, package in TOOLS.items() if not shutil.which(tool))
    if missing:
        raise Unavailable(f"install {' '.join(missing)}")
    source = fetch(work)
    pttc = work / "build" / "bin" / "pttc"
    if not pttc.exists():
        configured = run(["cmake", "-S", source, "-B", work / "build", "-DPTTC=ON", "-DCMAKE_BUILD_TYPE=Release",
                          "-DCMAKE_POLICY_VERSION_MINIMUM=3.5"], work)
        built = run(["cmake", "--build", work / "build", "--target", "pttc"], work)
        if configured.returncode or built.returncode or not pttc.exists():
            raise Unavailable(f"pttc cannot be built: {(configured.stdout + built.stdout)[-2000:]}")
    return source / "test" / "src", pttc
