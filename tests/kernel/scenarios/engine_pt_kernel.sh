# The pt engine with the kernel's code in the recording: its text, symbols and modules are kept.
. "$SHARE/guest/lib.sh"
engine=pt
needs_engine pt
record kernel "-full-execution -trace-include-kernel" -- --rounds 100
judge we_see_rounds kernel kernel.out
is "symbols are kept" "$(find kernel | grep -c kallsyms)" 1
