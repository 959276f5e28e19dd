# Stock perf records a program from its beginning: all calls are there.
. "$SHARE/guest/lib.sh"

# record NAME PROGRAM-OPTIONS PERF-OPTION...
record()
{
    local name=$1 options=$2
    shift 2
    succeeds "perf record $* ($options)" perf record -B -N -o "$name.data" -m,4M -e intel_pt//u "$@" "$DIGITS" $options
    cp output "$name.out"
    keep "$name.data" "$name.out"
    judge perf_sees_rounds "$name.data" "$name.out"
    judge we_see_rounds "$name.data" "$name.out"
}

record processor "--rounds 300"
record thread "--rounds 300" --per-thread
record everywhere "--rounds 300" -a
record four_threads "--rounds 200 --threads 4"
record paced "--rounds 50 --pace 1000"
record filtered "--rounds 50" --filter "filter one_round @ $DIGITS"
