"""Fetches the source of the libipt that is installed, and builds its pttc.

By apt-get, from where the system gets its packages: the deb lines that are configured are repeated as deb-src lines in a
folder of ours, with all state of apt there too. The system's own configuration is read and left alone.
"""
import os
import pathlib
import re
import shutil
import subprocess

LIBRARY = "libipt-dev"  # whose source it is
TOOLS = {"apt-get": "apt", "dpkg-query": "dpkg", "dpkg-source": "dpkg-dev", "cmake": "cmake", "cc": "gcc",
         "yasm": "yasm"}


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
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, check=False, env=dict(os.environ, LC_ALL="C"))


def last_words(finished):
    errors = [line for line in finished.stdout.splitlines() if line.startswith("E:")]
    words = errors or finished.stdout.strip().splitlines() or ["it says nothing"]
    return re.sub(r"\s\w+://\S+", "", words[0])


def fetch(work):
    """The folder of the source, unpacked; fetched unless it is there."""
    there = [path.parent for path in work.glob("source/*/pttc")]
    if there:
        return there[0]
    apt = work / "apt"
    shutil.rmtree(apt, ignore_errors=True)
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True)
    if not write_sources(pathlib.Path("/etc/apt"), apt / "sources.list.d"):
        raise Unavailable("apt has no sources of packages")
    name = run(["dpkg-query", "-W", "-f", "${source:Package}", LIBRARY], work)
    if name.returncode:
        raise Unavailable(f"{LIBRARY} is not installed")
    options = ["-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={apt}/sources.list.d",
               "-o", f"Dir::State::Lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache", "-q"]
    run(["apt-get", *options, "update"], work)  # lists that fail need not be the one
    folder = work / "source"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    fetched = run(["apt-get", *options, "source", name.stdout.strip()], folder)
    shutil.rmtree(apt, ignore_errors=True)
    there = [path.parent for path in folder.glob("*/pttc")]
    if fetched.returncode or not there:
        raise Unavailable(f"apt-get source {name.stdout.strip()}: {last_words(fetched)}")
    return there[0]


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
