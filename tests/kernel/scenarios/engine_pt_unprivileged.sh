# The pt engine without root, at each value of perf_event_paranoid.
. "$SHARE/guest/lib.sh"
engine=pt
needs_engine pt
as_someone()
{
    su someone -c "cd /tmp/someone && $*"
}
mkdir -p /tmp/someone
chown someone /tmp/someone
for paranoid in -1 0 1 2; do
    echo $paranoid >/proc/sys/kernel/perf_event_paranoid
    as_someone "$MAGIC_TRACE run -engine pt -full-execution -working-directory p$paranoid -no-decode $DIGITS --rounds 30" >p$paranoid.out 2>&1
    is "perf_event_paranoid $paranoid: exit status" $? 0
    [ ! -d /tmp/someone/p$paranoid ] || cp -r /tmp/someone/p$paranoid .
    keep p$paranoid p$paranoid.out
    judge we_see_rounds p$paranoid p$paranoid.out
done
# Debian's kernels know 3: nobody but root.
echo 3 >/proc/sys/kernel/perf_event_paranoid
as_someone "$MAGIC_TRACE run -engine pt -working-directory p3 -no-decode $DIGITS --rounds 30" >p3.out 2>&1
is "perf_event_paranoid 3: exit status" $? 1
says "perf_event_paranoid 3: names the setting" p3.out perf_event_paranoid

echo 2 >/proc/sys/kernel/perf_event_paranoid
as_someone "ulimit -l 0; $MAGIC_TRACE run -engine pt -snapshot-size 64M -working-directory large -no-decode $DIGITS --rounds 30" >large.out 2>&1
is "no memory to lock: exit status" $? 1
says "no memory to lock: names the setting" large.out "perf_event_mlock_kb|ulimit -l|RLIMIT_MEMLOCK"
says "no memory to lock: says what to do" large.out "sysctl|ulimit|-snapshot-size"
