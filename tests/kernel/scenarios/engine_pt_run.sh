# The pt engine: programs recorded from their beginning.
engine=pt
. "$SHARE/guest/engine_run.sh"
