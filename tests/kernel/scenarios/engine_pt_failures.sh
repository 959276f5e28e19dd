# The pt engine, refused or losing data: says what, on what, why and what to do, and leaves nothing running.
. "$SHARE/guest/lib.sh"
engine=pt
needs_engine pt

# refused WHAT PATTERN: a recording fails, and says why.
refused()
{
    mkdir -p temporary
    TMPDIR=$PWD/temporary timeout 100 "$MAGIC_TRACE" run -engine pt -o refused.fxt "$DIGITS" --rounds 5 >refused.out 2>&1
    is "$1: exit status" $? 1
    says "$1: the reason" refused.out "$2"
    is "$1: nothing is left" "$(ls -d temporary/* refused.fxt* 2>/dev/null)" ""
}

set_knob fail_errno 16
refused EBUSY "busy|in use|another"
set_knob fail_errno 1
refused EPERM "permi|paranoid|root|CAP_"
set_knob fail_errno 24
refused EMFILE "ulimit|RLIMIT_NOFILE|open files|descriptors"
set_knob fail_errno 19
refused ENODEV "no such device|Intel PT|device"

# Some threads' events are refused.
start_digits --pace 1000 --threads 4
set_knob fail_after 2
set_knob fail_errno 16
timeout 60 "$MAGIC_TRACE" attach -engine pt -working-directory part -no-decode -multi-thread -pid "$digits" >part.out 2>&1
is "attach with a thread's event refused: exit status" $? 1
says "the reason" part.out "busy|in use|another"
is "the program goes on" "$(kill -0 "$digits" && echo yes)" yes
set_knob fail_errno 0
set_knob fail_after 0
stop_digits

set_knob truncate 1
record truncated "-full-execution" -- --rounds 200 --pace 1000
judge fragments truncated

set_knob overflow 3
record overflow "-full-execution" -- --rounds 200
judge fragments overflow
