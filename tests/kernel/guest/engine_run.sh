# For the engine $engine: programs recorded from their beginning, whole or their last moments.
. "$SHARE/guest/lib.sh"
needs_engine "$engine"

record whole "-full-execution" -- --rounds 300
judge we_see_rounds whole whole.out
judge perf_sees_rounds whole/perf.data whole.out
[ "$engine" = perf ] || judge perf_writes_the_same whole

record threads "-full-execution -multi-thread" -- --rounds 200 --threads 4
judge we_see_rounds threads threads.out
judge perf_sees_rounds threads/perf.data threads.out
[ "$engine" = perf ] || judge perf_writes_the_same threads

record end "-snapshot-size 16K" -- --rounds 2000
judge ends_with_last_round end end.out 100
