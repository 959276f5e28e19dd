# Stock perf takes snapshots of a ring that is overwritten, as its control FIFO asks.
. "$SHARE/guest/lib.sh"

# ask COMMAND: perf does it and acknowledges.
ask()
{
    echo "$1" >&8
    local answer
    read -r -t 60 answer <&9
    is "perf acknowledges $1" "$answer" ack
}

snapshots()
{
    local name=$1 breaks=$2
    shift 2
    mkfifo control acknowledge
    start_digits "$@"
    exec 8<>control 9<>acknowledge
    perf record -B -N -o "$name.data" -m,16K --snapshot=e --control=fifo:control,acknowledge -e intel_pt//u -p "$digits" >perf.out 2>&1 &
    local perf=$!
    ask ping
    wait_for_packets 40000
    ask snapshot
    wait_for_packets 40000
    ask snapshot
    wait_for_packets 40000
    ask stop
    wait $perf
    is "perf ends well" $? 0
    exec 8>&- 9>&-
    rm control acknowledge
    stop_digits
    keep "$name.data"
    judge perf_sees_snapshots "$name.data" "$breaks"
}

# Between three snapshots of one ring there are two breaks.
affinity=2
snapshots one 2 --pace 200
# Rings of two processors reach back to different times: a break wherever a thread had been on the other one.
affinity=
snapshots three 200 --threads 3 --pace 200
