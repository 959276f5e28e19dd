"""What tests/truth/run and tests/truth/cuts share: building the programs of programs/*/ in their variants, and recording
them with truth_plugin.so beside the product's own plugin.

What a program's first lines say (in a comment):
  truth: OPTIONS; OPTIONS     variants. Words that are no options of the compiler: `strip` strips the result,
                              `compiler=clang` chooses a compiler
  truth-link: -ldl            follows the sources
  truth-needs: HEADER         skipped where the compiler does not find it
  truth-goal: 99.9 REASON     what is not to be reached in all variants
  truth-marked: REASON        judged by tests/truth/markers alone
  truth-threads: REASON       tests/truth/markers records all threads
  truth-incomplete: REASON    callers may be unknown in a recording of everything
  truth-rings: SIZES: REASON  tests/truth/markers judges snapshots of no other sizes
NAME.d/ holds more sources of a program NAME: libX.c or libX.cpp becomes libX.so beside it, others are linked into it.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import watchdog  # noqa: E402  (found through the path just set)

ROOT = HERE.parent.parent
PROGRAMS = HERE / "programs"
COMPILERS = {".c": ["gcc"], ".cpp": ["g++"], ".rs": ["rustc"], ".ml": ["ocamlopt"],
             ".go": ["go", "build"]}
HEAD_LINES = 12

RESULT = re.compile(r"^.*: (?P<events>\d+) events, (?P<right>\d+) right \([\d.]+ %\), (?P<deepest>\d+) deepest; "
                    r"(?P<unwound>\d+) unwound, (?P<repaired>\d+) repaired(?P<trouble>.*)$")

Variant = collections.namedtuple("Variant", "source words link goal needs")


class Failed(Exception):
    """Could not be built, run or judged."""


class Skipped(Exception):
    """Cannot be built on this machine."""


def field(head, name):
    """What follows `NAME:` in a program's first lines, up to the end of the line or comment."""
    found = re.search(rf"\b{name}:(.*)$", head, re.MULTILINE)
    return re.sub(r"\*/|\*\)", "", found.group(1)).strip() if found else ""


def head_of(source):
    return "\n".join(source.read_text(errors="replace").splitlines()[:HEAD_LINES])


def variants_of(source):
    head = head_of(source)
    goal = field(head, "truth-goal").split()
    for options in field(head, "truth").split(";"):
        yield Variant(source, options.split(), field(head, "truth-link").split(), float(goal[0]) if goal else 100.0,
                      field(head, "truth-needs"))


def is_marked_alone(variant):
    return bool(field(head_of(variant.source), "truth-marked"))


def variant_name(variant):
    return f"{variant.source.stem} {' '.join(variant.words)}".strip()


def execute(command, **options):
    """Exit status and output. What makes no progress is killed, with all that it has started."""
    try:
        finished = watchdog.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, **options)
    except watchdog.GivenUp as reason:
        raise Failed(str(reason)) from reason
    return finished.returncode, finished.stdout.decode(errors="replace")


def compile_with(command, folder):
    if not shutil.which(command[0]):
        raise Skipped(f"{command[0]} is not installed")
    status, output = execute(command, cwd=folder)
    if status:
        raise Failed(f"does not compile: {' '.join(map(str, command))}\n{output}")


def build_libraries(sources, folder, strip):
    for source in sources:
        library = folder / f"{source.stem}.so"
        compile_with([*COMPILERS[source.suffix], "-O2", "-fPIC", "-shared", *(["-s"] if strip else []), "-o", library, source], folder)


def build(variant, folder):
    """The program, in `folder`. Sources are copied there: some compilers write beside them."""
    if variant.needs and execute([*COMPILERS[variant.source.suffix], "-include", variant.needs, "-fsyntax-only", "-x",
                                  "c++" if variant.source.suffix == ".cpp" else "c", "/dev/null"])[0]:
        raise Skipped(f"{variant.needs} is not installed")
    more = variant.source.with_suffix(".d")
    for source in [variant.source, *(sorted(more.iterdir()) if more.is_dir() else [])]:
        if source.is_file():
            shutil.copy(source, folder)
    libraries = sorted(path for path in folder.glob("lib*.c*") if path.name != variant.source.name)
    others = [path for path in sorted(folder.iterdir())
              if path not in libraries and path.suffix in (variant.source.suffix, ".c", ".cpp", ".S")
              and path.name != variant.source.name]
    options = [word for word in variant.words if word != "strip" and not word.startswith("compiler=")]
    compiler = COMPILERS[variant.source.suffix]
    chosen = [word.partition("=")[2] for word in variant.words if word.startswith("compiler=")]
    if chosen:
        compiler = chosen
    build_libraries(libraries, folder, "strip" in variant.words)
    program = folder / variant.source.stem
    find_libraries = [f"-L{folder}", "-Wl,-rpath,$ORIGIN"] if libraries else []
    if variant.source.suffix in (".c", ".cpp"):
        options.append(f"-I{HERE}")
    compile_with([*compiler, *options, "-o", program, variant.source.name, *[path.name for path in others],
                  *find_libraries, *variant.link], folder)
    if "strip" in variant.words:
        compile_with(["strip", program], folder)
    return program


def record(settings, command, folder):
    """Where the recording is, where the truth, and how the command (a list) ended if not with 0."""
    truth = folder / "truth"
    truth.mkdir()
    callers = ",callers=on" if any(folder.glob("*.go")) else ""
    environment = dict(os.environ, QEMU_PLUGIN=f"{settings.plugin},dir={truth}{callers}", LC_ALL="C")
    status, output = execute([settings.binary, "run", "-engine", "qemu", "-full-execution", "-multi-thread", "-follow", "-no-decode",
                              "-working-directory", folder / "recording", "--", *command],
                             env=environment, cwd=folder)
    if status and "built without plugins" in output:
        raise Skipped("this machine's qemu has no plugins")
    if status:
        raise Failed(f"magic-trace run ended with {status}\n{output}")
    code = os.waitstatus_to_exitcode(json.loads((folder / "recording" / "session.json").read_text())["exit_status"])
    return folder / "recording", truth, f"program ended with {code}" if code else ""


def judge(settings, name, recording, truth):
    """The counts of its last line (a dictionary of RESULT's groups), and all that truth_judge says."""
    status, output = execute([settings.tools / "truth_judge", *settings.judge_options, "-all", settings.show, "-name",
                              name, recording, truth])
    result = RESULT.match(output.splitlines()[-1]) if output else None
    if not result:
        raise Failed(f"truth_judge ended with {status}\n{output}")
    return result.groupdict(), output


def percent(right, events):
    """Rounded towards zero: 100 is 100."""
    return f"{right * 100000 // events / 1000:.3f} %" if events else "-"


def sources_in(folder):
    """By name; without the further sources of a program, in its NAME.d/."""
    found = [path for path in folder.rglob("*") if path.suffix in COMPILERS and path.parent.suffix != ".d"]
    return sorted(found, key=lambda path: path.name)


def source_named(name):
    """Of PROGRAMS, in whichever of its folders."""
    return next(source for source in sources_in(PROGRAMS) if source.name == name)


def sources_of(settings):
    found = sources_in(settings.programs)
    known = {path.stem for path in found}
    unknown = [name for name in settings.names if name not in known]
    if unknown:
        sys.exit(f"no program {', '.join(unknown)} in {settings.programs}")
    return [path for path in found if not settings.names or path.stem in settings.names]


def chosen_variants(settings):
    """With their numbers, which distinguish the variants of one program."""
    numbered = [list(enumerate(variants_of(source))) for source in sources_of(settings)]
    if settings.one:
        numbered = [variants[1:2] or variants for variants in numbered]
    return [(variant, number) for variants in numbered for number, variant in variants
            if not settings.variant or settings.variant in variant.words]


def argument_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these programs")
    parser.add_argument("-k", "--keep", action="store_true", help="keep programs, recordings and truth")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="so many at the same time")
    parser.add_argument("--show", default="3", help="differences in a log (3)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of the build")
    parser.add_argument("--programs", type=pathlib.Path, default=PROGRAMS, help="folder of the programs")
    parser.add_argument("--work", type=pathlib.Path, help="folder for logs and what is kept (BUILD/truth)")
    parser.add_argument("--variant", help="only variants with this word")
    parser.add_argument("--one", action="store_true", help="of each program the second variant alone, usually -O2")
    return parser


def judging_parser(description):
    """For those that call judge."""
    parser = argument_parser(description)
    parser.add_argument("--judge-option", dest="judge_options", action="append", default=[],
                        help="an option for the judge")
    return parser


def finish_settings(settings, tools):
    """Where things are; `tools` of tests/truth are needed."""
    watchdog.default_signals()
    settings.build = settings.build.resolve()
    settings.binary = settings.build / "magic-trace"
    settings.tools = settings.build / "tests/truth"
    settings.plugin = settings.tools / "truth_plugin.so"
    settings.work = (settings.work or settings.build / "truth").resolve()
    settings.work.mkdir(parents=True, exist_ok=True)
    for needed in (settings.binary, settings.plugin, *(settings.tools / tool for tool in tools)):
        if not needed.exists():
            sys.exit(f"{needed} is not there: build first (make)")
    return settings
