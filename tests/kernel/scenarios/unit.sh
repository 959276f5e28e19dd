# The perf unit itself: what sysfs says of it.
. "$SHARE/guest/lib.sh"
unit=/sys/bus/event_source/devices/intel_pt
is "it has a type" "$(test "$(cat $unit/type)" -gt 5 && echo yes)" yes
is "format/cyc" "$(cat $unit/format/cyc)" config:1
is "format/psb_period" "$(cat $unit/format/psb_period)" config:24-27
is "format/notnt" "$(cat $unit/format/notnt)" config:55
is "caps/psb_cyc" "$(cat $unit/caps/psb_cyc)" 1
is "caps/psb_periods" "$(cat $unit/caps/psb_periods)" 3f
is "nr_addr_filters" "$(cat $unit/nr_addr_filters)" 2
is "max_nonturbo_ratio is that of the clock" "$(test "$(cat $unit/max_nonturbo_ratio)" -gt 0 && echo yes)" yes
succeeds "packets without an event vanish" "$DIGITS" --rounds 5
is "none was written" "$(knob injected)" 0
