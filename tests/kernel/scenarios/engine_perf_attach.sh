# The perf engine: processes that run already.
engine=perf
. "$SHARE/guest/engine_attach.sh"
