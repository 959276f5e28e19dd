# The kernel and the module by themselves: rings of packets, without perf or us.
. "$SHARE/guest/lib.sh"
"$SHARE/programs/direct" wraps
"$SHARE/programs/direct" fills
"$SHARE/programs/direct" pause
