# perf passes on what the module refuses; no event is left.
. "$SHARE/guest/lib.sh"
set_knob fail_errno 16
perf record -o busy.data -e intel_pt//u "$DIGITS" --rounds 1 >busy.out 2>&1
says "perf says EBUSY" busy.out "Device or resource busy|busy"
set_knob fail_errno 1
perf record -o forbidden.data -e intel_pt//u "$DIGITS" --rounds 1 >forbidden.out 2>&1
says "perf says EPERM" forbidden.out "not permitted|[Pp]ermission|paranoid"
set_knob fail_errno 0
succeeds "and then it works" perf record -B -N -o good.data -e intel_pt//u "$DIGITS" --rounds 1

# A second event of the unit on what is traced already.
start_digits --pace 1000
perf record -B -N -o first.data --per-thread -e intel_pt//u -p $digits >first.out 2>&1 &
first=$!
wait_for sh -c "test \$(cat $KNOBS/events) != 0"
perf record -B -N -o second.data --per-thread -e intel_pt//u -p $digits >second.out 2>&1
is "a second one is refused" "$(test $? != 0 && echo yes)" yes
kill -INT $first
wait $first
stop_digits
