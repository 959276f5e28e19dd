"""What ptxed prints and what our flow decoder prints, reduced to what both report.

ptxed reports more than a flow decoder needs to: paging, power, PTWRITE, modes, transactions that begin and commit. That is
left out. What remains is instructions, beginnings and ends of tracing, interrupts, aborts, overflows and errors. The
two report the same things differently:
  - an abort is two events there (aborted, interrupt), one here, and none here while tracing is off;
  - errors have other words, and other places: a decoder that notices an error later is not wrong;
  - at the end of the data ptxed runs on as far as the code needs no packet, or is known; we stop at the last packet.
"""
import re

INSTRUCTION = re.compile(r"^(?:\? *)?([0-9a-f]{16})\b")
EVENTS = {"enabled": "start", "resumed": "start", "disabled": "end", "interrupt": "interrupt", "aborted": "abort",
          "overflow": "overflow", "end of trace": "end of trace", "start": "start", "end": "end", "abort": "abort"}


def step_of(line):
    """An address, the name of an event, or None for what is left out."""
    instruction = INSTRUCTION.match(line)
    if instruction:
        return instruction.group(1)
    event = re.match(r"^\[(?:[0-9a-f]{16} +)?([^\],:]*)", line)  # --event:time puts the time first
    if not event:
        return None
    if re.match(r"^\[[0-9a-f?]+, [0-9a-f]+: ", line):
        return "error"
    return EVENTS.get(event.group(1).strip())


def is_instruction(step):
    return INSTRUCTION.match(step) is not None


def steps_of(text):
    steps = []
    for line in text.splitlines():
        step = step_of(line.strip())
        newest = steps[-1] if steps else None
        if step is None or (newest, step) in (("abort", "interrupt"), ("error", "error")):
            continue
        if step == "abort" and newest == "end":
            continue
        steps.append(step)
    return steps


def comparable(ours, expected, size):
    """Both as lists of steps that are equal when the two agree. `size`: of the packets, in bytes."""
    count = re.search(r"^insn: *(\d+)\.$", expected, re.MULTILINE)
    if count:  # ptxed --quiet --stat:insn
        return [f"{sum(map(is_instruction, steps_of(ours)))} instructions"], [f"{count.group(1)} instructions"]
    expected = re.sub(rf"^\[{size:x}, .*$", "[end of trace]", expected, flags=re.MULTILINE)
    our_steps, their_steps = steps_of(ours), steps_of(expected)
    runs_on = their_steps[-1:] == ["end of trace"]
    for steps in (our_steps, their_steps):
        while steps and steps[-1] in ("end", "end of trace"):
            steps.pop()
    if runs_on and their_steps[:len(our_steps)] == our_steps and all(map(is_instruction, their_steps[len(our_steps):])):
        their_steps = their_steps[:len(our_steps)]
    return our_steps, their_steps
