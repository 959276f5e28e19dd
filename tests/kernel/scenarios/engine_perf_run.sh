# The perf engine: programs recorded from their beginning.
engine=perf
. "$SHARE/guest/engine_run.sh"
