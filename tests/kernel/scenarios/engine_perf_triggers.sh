# The perf engine: snapshots at hits.
engine=perf
. "$SHARE/guest/engine_triggers.sh"
