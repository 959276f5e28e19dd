"""Fetches the source of libipt from where the system gets its packages, and builds its pttc.

Mirrors drop old releases and keep the lists that name them; then it is a release of newer Debian, from the same folder
of the pool.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

import watchdog

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
from debian_source import SECONDS, Unavailable, apt_options, last_words, write_sources  # noqa: E402

LIBRARY = "libipt-dev"  # whose source it is
TOOLS = {"apt-get": "apt", "dpkg-query": "dpkg", "dpkg-source": "dpkg-dev", "cmake": "cmake", "cc": "gcc",
         "yasm": "yasm"}
# Releases as Debian has them, the newest first: version, SHA-256 of the .orig.tar.gz (of its Sources.xz, and computed).
RELEASES = [("2.1.2", "713d3e76b6c3073b122a9f5b6c025bc301a0436582f132caf782814363acf60f")]
LONGEST_ARCHIVE = 16 << 20  # these have less than 1 MB


def run(command, folder):
    return watchdog.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                        env=dict(os.environ, LC_ALL="C"))


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
