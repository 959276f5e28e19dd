# The pt engine: a ring that wraps at many offsets, cut out and put together by us.
. "$SHARE/guest/lib.sh"
engine=pt
needs_engine pt
for skip in 0 1 2 3 7 8 15 16 ${WRAP_OFFSETS:-509 1021 2039 2048 3067 4079 4080 4088 4093 4094 4095}; do
    set_knob skip $skip
    record wrap_$skip "-snapshot-size 4K" -- --rounds 250
    judge ends_with_last_round wrap_$skip wrap_$skip.out 20
    judge perf_writes_the_same wrap_$skip
done
