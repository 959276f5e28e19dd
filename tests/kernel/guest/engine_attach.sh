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
judge same_windows three 50

# The tracer is killed: the program owes it nothing.
start_digits --pace 200
attach killed -snapshot-size 16K
wait_for_packets 10000
kill -KILL "$tracer"
wait "$tracer" 2>/dev/null
is "the program goes on when the tracer is killed" "$(kill -0 "$digits" && echo yes)" yes
stop_digits
is "it ended well" "$(grep -c ' rounds ' digits.out)" 1
