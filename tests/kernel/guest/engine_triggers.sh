# For the engine $engine: snapshots at hits. `fifty` is called in rounds 50, 150, ...; the packets of a round are written at its end.
. "$SHARE/guest/lib.sh"
needs_engine "$engine"

record first "-snapshot-size 64K -trigger fifty" -- --rounds 400 --pace 200
judge window_around first 49

record several "-snapshot-size 16K -trigger fifty -multi-snapshot" -- --rounds 600 --pace 200
judge hits_and_snapshots several 6

record threads "-snapshot-size 16K -trigger fifty -multi-snapshot -multi-thread" -- --rounds 300 --threads 3 --pace 200
judge hits_and_snapshots threads 9

record at_once "-snapshot-size 64K -trigger fifty -immediate-stop" -- --rounds 400 --pace 200
if [ "$engine" = perf ]; then
    says "-immediate-stop: said that perf cannot" at_once.out "no effect"
elif has_aux_pause; then
    judge ends_at at_once 49
else
    says "-immediate-stop: said that this kernel is too old" at_once.out "6.13|pause"
fi
