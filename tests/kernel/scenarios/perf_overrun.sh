# A buffer that is too small for what comes: perf says what was lost, and what was kept is right.
. "$SHARE/guest/lib.sh"
# The kernel stops an event whose buffer is full until perf has read it. It may never start again (it does not each
# time, with a race in perf or the kernel), so nothing here waits for the last round.
succeeds "perf record with two pages" timeout 60 perf record -B -N -o small.data -m,2 -e intel_pt//u "$DIGITS" --rounds 2000
keep small.data
judge perf_sees_fragments small.data

set_knob truncate 1
succeeds "perf record, one write lost" perf record -B -N -o lost.data -m,1M -e intel_pt//u "$DIGITS" --rounds 100 --pace 2000
keep lost.data
judge perf_sees_fragments lost.data
judge has_flag lost.data T

set_knob overflow 3
succeeds "perf record, overflow packets" perf record -B -N -o overflow.data -m,1M -e intel_pt//u "$DIGITS" --rounds 100
keep overflow.data
judge perf_sees_fragments overflow.data
