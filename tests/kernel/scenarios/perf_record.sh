# Stock perf records a program from its beginning: all calls are there.
. "$SHARE/guest/lib.sh"
for mode in "" --per-thread -a; do
    name=record$mode
    succeeds "perf record $mode" perf record -B -N -o $name.data -m,4M $mode -e intel_pt//u "$DIGITS" --rounds 300
    cp output $name.out
    keep $name.data $name.out
    judge perf_sees_rounds $name.data $name.out
done
