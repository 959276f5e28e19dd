# module: psb_cyc=0 mtc=0 ptwrite=0 power_event_trace=0 num_address_ranges=0
# The pt engine on a processor of the first generation: without CYC and MTC packets.
. "$SHARE/guest/lib.sh"
engine=pt
needs_engine pt
record old "-full-execution" -- --rounds 100
judge we_see_rounds old old.out
record wanted "-full-execution -timer-resolution Normal" -- --rounds 10
says "-timer-resolution Normal: a warning" wanted.out "older|CYC|cycle"
