"""What programs ask of the kernel that the translator has to know of: new threads and processes, changed mappings and
code, filters of system calls."""
import harness

NOT_KNOWN = 77  # exit status: the kernel does not know or allow it


class SystemCalls(harness.TestCase):
    def check(self, program, *options, untraced=(), killed_threads=0):
        """The program does what it does untraced, all of the recording decodes, and `untraced` is what it names as not
        traced. `killed_threads`: so many may be killed while they run, by another one's exec."""
        command = [harness.compile_program(program)]
        traced = self.trace(command, "-engine", "translator", "-full-execution", *options)
        self.assert_same_as_untraced(traced, command)
        self.judge_recording(traced, unfinished=killed_threads * harness.LONGEST_BLOCK)
        for name in untraced:
            self.assertIn(name, traced.messages)
        return traced

    def test_every_way_to_begin_and_end(self):
        """threads and processes made by every call there is, with all of them traced"""
        traced = self.check("clones", "-multi-thread", "-follow", killed_threads=3)
        self.assertNotIn("ntraced", traced.messages)

    def test_untraced_threads_and_children(self):
        """the same without -multi-thread and -follow: what is not traced runs as ever"""
        self.check("clones", untraced=["-multi-thread", "-follow"])

    def test_changing_code(self):
        """code that is overwritten, mapped twice, in a file that is written, moved and replaced runs as it is, and is recorded as it was"""
        self.check("code_changes", "-multi-thread")

    def test_registers_of_a_waiting_process(self):
        """who looks at the registers of a process that waits in a system call finds the program's, on its own stack"""
        traced = self.check("waiting_registers", "-multi-thread", "-follow")
        self.assertEqual(traced.stdout.count(b": the program's\n"), 8)

    def test_new_functions(self):
        """functions that two threads call as soon as they are there: neither is shown to run one before its code was there"""
        self.check("new_functions", "-multi-thread")

    def test_rewritten_code(self):
        """a function that is written 3,000 times: of its versions a snapshot has those that ran in it, and it decodes with them"""
        command = [harness.compile_program("rewritten_code"), "3000", "2000"]
        traced = self.trace(command, "-engine", "translator", "-snapshot-size", "64K")
        self.assert_same_as_untraced(traced, command)
        self.assert_no_gaps(traced)
        self.judge_recording(traced, "b")
        images = sum(file.stat().st_blocks * 512 for file in traced.directory.glob("images/dump.*"))
        self.assertLess(images, 4 << 20)

    def test_code_near_stack(self):
        """a function near the stack of a thread that calls it and replaces it: another thread calls what was written"""
        command = [harness.compile_program("code_near_stack")]
        traced = self.trace(command, "-engine", "translator", "-full-execution", "-multi-thread")
        self.assert_same_as_untraced(traced, command)
        self.assert_no_gaps(traced)
        self.judge_recording(traced, "b")

    def test_restored_code(self):
        """code of which bytes in another page, older bytes, or a branch that is not taken say what ran: perf and libipt follow it, too"""
        self.check("restored_code")

    def test_faulting_writer(self):
        """a function that has written to its own page faults: its handler finds it where it is, with its registers"""
        self.check("faulting_writer")

    def test_patched_code(self):
        """functions that are replaced while threads that call them are off their processors: each is shown as it was when it ran"""
        command = [harness.compile_program("patched_code"), "dual", "6", "100"]
        traced = self.trace(command, "-engine", "translator", "-full-execution", "-multi-thread")
        self.assertEqual(traced.stdout, b"done\n")
        self.judge_recording(traced)

    def test_code_writers(self):
        """threads that write to the same pages of code at the same time, and run it, find no fault and no old code; nor where
        another one calls madvise for the pages"""
        for options in [], ["forget"]:
            command = [harness.compile_program("code_writers"), "4", "4", *options]
            traced = self.trace(command, "-engine", "translator", "-multi-thread", "-no-decode")
            self.assertEqual(traced.stdout, b"ready\ndone: 0 mistakes\n")

    def test_after_the_snapshot(self):
        """code that is written after the snapshot, while another thread waits and does not know of it"""
        command = [harness.compile_program("after_snapshot")]
        traced = self.trace(command, "-engine", "translator", "-trigger", "snapshot", "-immediate-stop", "-multi-thread")
        self.assert_same_as_untraced(traced, command)
        self.assertIn("Snapshot taken", traced.messages)

    def test_own_code_written(self):
        """code that is changed through /proc/self/mem and by process_vm_writev runs as it is, and is recorded as it was"""
        self.check("own_code_written")

    def test_supplied_code(self):
        """code that another thread supplies when it is first run (userfaultfd), gives back and moves"""
        command = [harness.compile_program("supplied_code")]
        if harness.run(command).status == NOT_KNOWN:
            self.skipTest("userfaultfd is not allowed")
        self.check("supplied_code", "-multi-thread")
        forks = self.trace([*command, "forks"], "-engine", "translator", "-multi-thread")
        self.assert_same_as_untraced(forks, [*command, "forks"])
        self.assertIn("UFFD_FEATURE_EVENT_FORK", forks.messages)

    def test_address_limit(self):
        """a program that limits its own address space gets as much of it as untraced, and reads the limit that it has set"""
        self.check("address_limit", "-multi-thread")
        filtered = [harness.compile_program("address_limit"), "filtered"]
        self.assert_same_as_untraced(self.trace(filtered, "-engine", "translator", "-multi-thread"), filtered)

    def test_executable_memory_forbidden(self):
        """a program that forbids new executable memory goes on natively from there, and the cause is named"""
        command = [harness.compile_program("gives_up"), "executable"]
        if harness.run(command).status == NOT_KNOWN:
            self.skipTest("the kernel does not know PR_SET_MDWE")
        traced = self.trace(command, "-engine", "translator", "-full-execution")
        self.assert_same_as_untraced(traced, command)
        self.judge_recording(traced)
        self.assertIn("PR_SET_MDWE", traced.messages)

    def test_shared_code(self):
        """code in shared memory that another process writes: a file with a name, inherited memory, System V shared memory, a memfd that was sent"""
        for how in "named", "anonymous", "system-v", "passed":
            for who in [], ["child"]:
                with self.subTest(how, who=who):
                    command = [harness.compile_program("shared_code"), how, *who]
                    traced = self.trace(command, "-engine", "translator", "-full-execution", "-follow")
                    self.assert_same_as_untraced(traced, command)
                    self.judge_recording(traced)

    def test_truncated_code(self):
        """code of a file that the program makes shorter while it is mapped raises SIGBUS, and runs when the file is as long as before"""
        command = [harness.compile_program("truncated_code")]
        traced = self.trace(command, "-engine", "translator", "-full-execution")
        self.assert_same_as_untraced(traced, command)

    def test_steps_itself(self):
        """a program that sets its own trap flag gets each of its traps, natively, and the cause is named"""
        for how in [], ["handler"]:
            command = [harness.compile_program("steps_itself"), *how]
            traced = self.trace(command, "-engine", "translator", "-full-execution")
            self.assert_same_as_untraced(traced, command)
            self.judge_recording(traced)
            self.assertIn("it steps itself (trap flag)", traced.messages)

    def test_gives_up(self):
        """far returns, 32-bit calls, calls that are dispatched and breakpoints of one's own: the cause is named, and all works"""
        causes = {"far": "far branch", "int80": "32-bit system call", "dispatch": "PR_SET_SYSCALL_USER_DISPATCH",
                  "breakpoint": "breakpoint in its own code"}
        for what, cause in causes.items():
            with self.subTest(what):
                command = [harness.compile_program("gives_up"), what]
                traced = self.trace(command, "-engine", "translator", "-full-execution")
                self.assert_same_as_untraced(traced, command)
                self.judge_recording(traced)
                self.assertIn(cause, traced.messages)

    def test_traced_child(self):
        """a child that lets its parent trace it: the parent steps through the child's own instructions"""
        command = [harness.compile_program("gives_up"), "stepped"]
        traced = self.trace(command, "-engine", "translator", "-follow")
        self.assert_same_as_untraced(traced, command)
        self.judge_recording(traced)
        self.assertIn("PTRACE_TRACEME", traced.messages)

    def test_filters(self):
        """seccomp forbids a program what it does itself, not what the translator does; what cannot be traced goes on"""
        self.check("filters", "-follow", untraced=["seccomp strict mode", "seccomp filter"])

    def test_probes(self):
        """calls that only ask what seccomp can do end no tracing"""
        traced = self.check("seccomp_probes", "-trigger", "after", "-multi-snapshot")
        self.assertIn("10 snapshots of 10 hits", traced.messages)
        self.assertNotIn("ntraced", traced.messages)
