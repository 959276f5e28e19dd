# For the engine $engine: attached to processes that run already.
. "$SHARE/guest/lib.sh"
needs_engine "$engine"

start_digits --pace 200
attach one -snapshot-size 16K
wait_for_packets 40000
detach one
stop_digits
judge same_windows one 50

start_digits --pace 200 --threads 3
attach three -snapshot-size 16K -multi-thread
wait_for_packets 120000
detach three
stop_digits
judge same_windows three 50 200
judge right_callers three

# The tracer is killed, at different moments: the program owes it nothing.
start_digits --pace 200
for moment in 0 100 300 500 700 900 1100 1500; do
    attach killed_$moment -snapshot-size 16K
    usleep ${moment}000
    kill -KILL "$tracer"
    wait "$tracer" 2>/dev/null
    kill -0 "$digits" || fail "the program goes on when the tracer is killed after $moment ms" "it ended"
    is "it is not stopped (killed after $moment ms)" "$(sed -n 's/^State:[^a-zA-Z]*\([tT]\).*/\1/p' /proc/$digits/status)" ""
done
stop_digits
is "the program ended well" "$(grep -c ' rounds ' digits.out)" 1
