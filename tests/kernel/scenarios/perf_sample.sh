# Samples of another event that carry the packets before it (snapshot_aux).
. "$SHARE/guest/lib.sh"
without_randomisation=0x555555554000
address=$(printf '0x%x' $((without_randomisation + 0x$(sed -n 's/ hundred$//p' "$SHARE/programs/digits.symbols"))))
echo 0 >/proc/sys/kernel/randomize_va_space
succeeds "perf record --aux-sample" perf record -B -N -o sample.data --aux-sample=2048 -e "{intel_pt//u,mem:$address:x:u}" "$DIGITS" --rounds 500
echo 2 >/proc/sys/kernel/randomize_va_space
is "snapshots were taken" "$(test "$(knob snapshots)" -gt 3 && echo yes)" yes
keep sample.data
judge samples_hold_rounds sample.data
