# The pt engine: processes that run already.
engine=pt
. "$SHARE/guest/engine_attach.sh"
