# The pt engine: snapshots at hits.
engine=pt
. "$SHARE/guest/engine_triggers.sh"
