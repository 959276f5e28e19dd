# For the scenarios: what they have in common. Sourced in the guest, by busybox's shell.
#
# A scenario says one line per thing that it tests: `ok`, `FAIL` or `skip`, two blanks, what, and a reason. What only
# the host can judge (it decodes faster, and has Python) is a line `judge FUNCTION ARGUMENT...`: a function of
# tests/kernel/judges.py.

DIGITS=$SHARE/programs/digits
MAGIC_TRACE=$SHARE/programs/magic-trace

ok()
{
    echo "ok    $1"
}

fail()
{
    echo "FAIL  $1: $2"
}

skip()
{
    echo "skip  $1: $2"
    exit 0
}

judge()
{
    echo "judge $*"
}

# is WHAT VALUE EXPECTED
is()
{
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        fail "$1" "it is '$2' and not '$3'"
    fi
}

# succeeds WHAT COMMAND...; output goes to the file `output`.
succeeds()
{
    local what=$1
    shift
    if "$@" >output 2>&1; then
        ok "$what"
    else
        fail "$what" "exit status $?: $(tail -n 5 output | tr '\n' ' ')"
        return 1
    fi
}

# says WHAT FILE PATTERN
says()
{
    if grep -qE -- "$3" "$2"; then
        ok "$1"
    else
        fail "$1" "no '$3' in: $(tail -n 5 "$2" | tr '\n' ' ')"
    fi
}

# wait_for COMMAND...: until it succeeds, at most 30 s.
wait_for()
{
    local turns=0
    until "$@" 2>/dev/null; do
        turns=$((turns + 1))
        [ $turns -lt 1500 ] || return 1
        usleep 20000
    done
}

# Runs `digits` in the background until it is killed: its process id in $digits. On the processors of $affinity alone, a
# mask, if that is set.
start_digits()
{
    rm -f ready
    ${affinity:+taskset $affinity} "$DIGITS" --rounds 0 --ready ready "$@" >digits.out 2>&1 &
    digits=$!
    wait_for test -e ready || fail "digits starts" "$(cat digits.out)"
}

stop_digits()
{
    kill -TERM "$digits" 2>/dev/null
    wait "$digits" 2>/dev/null
}

set_knob()
{
    echo "$2" >"$KNOBS/$1"
}

knob()
{
    cat "$KNOBS/$1"
}

# wait_for_packets BYTES: until so many more have been recorded.
wait_for_packets()
{
    local enough=$(($(knob injected) + $1))
    wait_for sh -c "test \$(cat $KNOBS/injected) -ge $enough" || fail "packets come" "$(knob injected) of $enough bytes"
}

# keep FILE...: for the host.
keep()
{
    cp -r "$@" "$RESULTS/"
}

has_aux_pause()
{
    local kernel major minor
    kernel=$(uname -r)
    major=${kernel%%.*}
    minor=${kernel#*.}
    minor=${minor%%[!0-9]*}
    [ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 13 ]; }
}

# needs_engine NAME: the scenario is skipped while magic-trace does not have it, and fails when it does not work here.
needs_engine()
{
    "$MAGIC_TRACE" doctor >doctor.out 2>&1
    grep -q "^engine $1 " doctor.out || skip "the $1 engine" "magic-trace doctor does not know it"
    if ! grep -A 1 "^engine $1 " doctor.out | grep -q "^ *works"; then
        fail "the $1 engine works here" "$(grep -A 2 "^engine $1 " doctor.out | tr '\n' ' ')"
        exit 0
    fi
}

# record NAME OPTIONS [-- PROGRAM OPTION...]: runs digits under magic-trace with the engine $engine. What both print goes to
# NAME.out, the recording to NAME; both are kept.
record()
{
    local name=$1 options=$2 status
    shift 3
    timeout 100 "$MAGIC_TRACE" run -engine "$engine" -working-directory "$name" -no-decode $options "$DIGITS" "$@" >"$name.out" 2>&1
    status=$?
    if [ $status = 0 ]; then
        ok "run -engine $engine $options, digits $*"
    else
        fail "run -engine $engine $options, digits $*" "exit status $status: $(tail -n 5 "$name.out" | tr '\n' ' ')"
    fi
    keep "$name.out"
    [ ! -d "$name" ] || keep "$name"
}

# attach NAME OPTION...: magic-trace in the background, recording the process $digits; its process id in $tracer.
attach()
{
    local name=$1
    shift
    "$MAGIC_TRACE" attach -engine "$engine" -working-directory "$name" -no-decode -pid "$digits" "$@" >"$name.out" 2>&1 &
    tracer=$!
}

# detach NAME: Ctrl-C.
detach()
{
    kill -INT "$tracer"
    wait "$tracer"
    is "attach ends well" $? 0
    is "and the program goes on" "$(kill -0 "$digits" && echo yes)" yes
    keep "$1.out"
    [ ! -d "$1" ] || keep "$1"
}
