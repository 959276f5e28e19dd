"""The list of what is inside the static executable, with versions and licences, in SPDX 2.3's tag:value form.

Called by packaging/dist. Licences are those that the sources of the packages state, in SPDX's names.
"""
import hashlib
import subprocess
import time

# Binary package of Debian, what of it is linked in, licence.
LINKED = [
    ("libc6-dev", "glibc", "LGPL-2.1-or-later"),
    ("libgcc-12-dev", "libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libdw-dev", "elfutils (libdw)", "GPL-2.0-or-later OR LGPL-3.0-or-later"),
    ("libelf-dev", "elfutils (libelf)", "GPL-2.0-or-later OR LGPL-3.0-or-later"),
    ("libiberty-dev", "libiberty", "LGPL-2.1-or-later AND GPL-2.0-or-later WITH GCC-exception-2.0"),
    ("libisal-dev", "ISA-L (igzip)", "BSD-3-Clause"),
    ("libjansson-dev", "Jansson", "MIT"),
    ("libmicrohttpd-dev", "libmicrohttpd", "LGPL-2.1-or-later"),
    ("libsqlite3-dev", "SQLite", "blessing"),
    ("libzydis-dev", "Zydis", "MIT"),
    ("libzstd-dev", "Zstandard", "BSD-3-Clause"),
    ("zlib1g-dev", "zlib", "Zlib"),
    ("liblzma-dev", "liblzma", "LicenseRef-public-domain"),
    ("libbz2-dev", "bzip2", "bzip2-1.0.6"),
    ("libxxhash-dev", "xxHash", "BSD-2-Clause"),
    ("uthash-dev", "uthash", "BSD-1-Clause"),
]


def package(number, name, version, licence, note=""):
    return (f"PackageName: {name}\nSPDXID: SPDXRef-{number}\nPackageVersion: {version}\nPackageDownloadLocation: NOASSERTION\n"
            f"FilesAnalyzed: false\nPackageLicenseConcluded: {licence}\nPackageLicenseDeclared: {licence}\n"
            f"PackageCopyrightText: NOASSERTION\n{note}\n")


def version_of(debian):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", debian], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def document(release, when, libraries, executable):
    digest = hashlib.sha256(executable.read_bytes()).hexdigest()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    text = (f"SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: magic-trace-{release}\n"
            f"DocumentNamespace: https://spdx.org/spdxdocs/magic-trace-{release}-{digest[:16]}\n"
            f"Creator: Tool: packaging-spdx\nCreated: {created}\n\n")
    text += package("magic-trace", "magic-trace", release, "MIT", f"PackageChecksum: SHA256: {digest}\n")
    relations = ["SPDXRef-DOCUMENT DESCRIBES SPDXRef-magic-trace"]
    built_here = {path.stem.lower() for path in libraries.glob("*.a")}
    for debian, name, licence in LINKED:
        version = version_of(debian)
        if not version:
            continue
        here = any(part.removeprefix("lib") in debian for part in built_here)
        note = "PackageComment: built from the source of Debian's package\n" if here else \
            "PackageComment: as Debian's package has it\n"
        text += package(debian, name, version, licence, note)
        relations.append(f"SPDXRef-magic-trace STATIC_LINK SPDXRef-{debian}")
    text += ("LicenseID: LicenseRef-public-domain\nExtractedText: <text>liblzma is in the public domain.</text>\n"
             "LicenseName: public domain\n\n")
    return text + "".join(f"Relationship: {relation}\n" for relation in relations)
