"""Tests of the kit, without a server: adapters of locks in memory, spoken to over pipes.

python3 -m unittest discover adapters/sdk/python
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
import unittest

import lockstorm_adapter as kit
from lockstorm_adapter import UNKNOWN, Adapter, Failed, NotOwner, granted, released, renewed, serve

#: Longest time that a program may take for a test, in seconds.
WITHIN = 20
#: Time after a request at which something is told, in seconds.
PAUSE = 0.03
OPEN = {
    "client": "a",
    "lease_ms": 1500,
    "reply_timeout_ms": 500,
    "topology": "single",
    "servers": [{"name": "primary", "address": "127.0.0.1:6379"}],
    "nodes": [{"name": "primary", "address": "127.0.0.1:6379"}],
    "seed": 7,
}


class Plain(Adapter):
    """A lock that does what its key says."""

    name, version = "plain", "1.0"
    can, promises, answers_within, server_key = "tokens", ("fenced",), 12.5, "lock:{key}"
    not_owner, failed = PermissionError, (LookupError,)

    def open(self, client):
        self.client = client
        print("not an answer")
        threading.Thread(target=time.sleep, args=(3600,)).start()

    def acquire(self, key):
        print("neither is this")
        if key == "hang":
            time.sleep(3600)
        said = {
            "free": True,
            "taken": False,
            "unreachable": UNKNOWN,
            "marked": granted(
                lease=1.0005, token=b"12", marks=["text", b"bytes", b"\xff"], by="primary"
            ),
        }
        return said[key]

    def renew(self, key):
        return {"free": None, "taken": False, "marked": renewed(lease=0.5)}[key]

    def release(self, key):
        if key == "taken":
            raise PermissionError("it is another's")
        return {"free": None, "mine": False, "twice": released(count=1), "silent": UNKNOWN}[key]

    def follow(self, servers):
        raise ConnectionError("\udcff" + "x" * 100_000)


class Shared(Adapter):
    """A lock that knows readers, permits and waiting."""

    def acquire(self, key, mode, permits, wait):
        return granted(marks=[f"{mode} {permits} {wait}"])

    def release(self, key, mode):
        return mode == "read"

    def await_turn(self, key, pause, within):
        self.waited = key, pause, within

    def end_wait(self, key, granted):
        if (*self.waited, granted) != ("k", 0.001, 2.0, True):
            raise ValueError(self.waited)


class Coroutines(Adapter):
    """A lock of coroutines, which waits until it is given up."""

    async def acquire(self, key):
        if key == "stubborn":
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                return True
        if key == "own":
            raise asyncio.CancelledError
        if key == "wait":
            await asyncio.sleep(3600)
        return True

    async def release(self, key):
        self.lost(key)
        raise NotOwner


class Watched(Adapter):
    """A lock with a watchdog, whose second renewal fails, and whose third is of another's."""

    can = "watchdog"

    def open(self, client):
        self.renewals = 0

    def acquire(self, key):
        self.gate(key, lambda: print("renewed early"))
        if key == "slow":
            time.sleep(1)
        else:
            threading.Thread(target=self.watch, args=(key,)).start()
        return key != "refused"

    def watch(self, key):
        time.sleep(0.2)
        for _ in range(3):
            with contextlib.suppress(Failed):
                self.gate(key, self.send, 1, by=1, skipped=True)
        self.lost(key)

    def send(self, number, by):
        self.renewals += by * number
        if self.renewals == 2:
            raise Failed("refused")
        return self.renewals < 3

    def release(self, key):
        return released(count=self.renewals)


class WatchedCoroutines(Adapter):
    """The same of coroutines; a release stops the watchdog, wherever it is."""

    can = "watchdog"

    async def acquire(self, key):
        self.task = asyncio.ensure_future(self.watch(key))
        return True

    async def watch(self, key):
        while await self.gate(key, self.send, 2, skipped=True):
            pass

    async def send(self, lease):
        return renewed(lease=lease)

    async def release(self, key):
        self.task.cancel()
        await asyncio.sleep(0)


class Noisy(Adapter):
    """A lock whose threads say much at once."""

    def acquire(self, key):
        def talk(number):
            for _ in range(100):
                self.routed("n" * number, why="x" * 1000, before="primary")

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return True

    def release(self, key):
        {"lost": self.lost, "suspended": self.suspended, "resumed": self.resumed}[key]("k")
        self.queued("k")
        raise Failed(key)


class Telling(Adapter):
    """A lock that is lost in the middle of a renewal, and suspended after a release."""

    def acquire(self, key):
        return True

    def renew(self, key):
        time.sleep(PAUSE)
        self.lost(key)
        time.sleep(PAUSE)

    def release(self, key):
        threading.Timer(PAUSE, self.suspended, [key]).start()


class Program:
    """An adapter in a process of its own."""

    def __init__(self, adapter):
        command = [sys.executable, __file__, adapter.__name__]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.timer = threading.Timer(WITHIN, self.process.kill)
        self.timer.start()
        self.last, self.notes = 0, []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, word, **fields):
        """Sends a request; gives its number."""
        self.last += 1
        self.say(json.dumps({"id": self.last, "do": word, **fields}))
        return self.last

    def hear(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), self.process.stderr.read().decode()
        return json.loads(line)

    def answer(self, number):
        """The answer to a request; notes before it are kept."""
        while True:
            said = self.hear()
            if said.pop("id", None) == number:
                return said
            assert "note" in said, said
            self.notes.append(said)

    def note(self):
        """The next note."""
        return self.notes.pop(0) if self.notes else self.hear()

    def told(self):
        """The next note, without its time: after which request, and how many seconds after."""
        note = self.note()
        return note, note.pop("after"), note.pop("after_us") / 1e6

    def ask(self, word, **fields):
        return self.answer(self.begin(word, **fields))

    def open(self, protocol=2, **fields):
        self.ask("hello", protocol=protocol)
        return self.ask("open", **OPEN, **fields)

    def end(self):
        """What the program leaves behind: the rest of its output, its log and its status."""
        output, log = self.process.communicate()
        return output.decode(), log.decode(), self.process.returncode


class Loop(unittest.TestCase):
    def test_answers_hello_with_the_version_that_both_know(self):
        with Program(Plain) as program:
            hello = {"is": "hello", "name": "plain", "version": "1.0"}
            self.assertEqual(program.ask("hello", protocol=1), {**hello, "protocol": 1})
            self.assertEqual(program.ask("hello", protocol=3), {**hello, "protocol": 2})

    def test_tells_what_shows_and_what_is_said_of_the_library(self):
        with Program(Plain) as program:
            opened = {"is": "opened", "can": ["tokens"], "promises": ["fenced"], "denies": []}
            opened.update(answers_within_ms=12500, server_key="lock:{key}")
            self.assertEqual(program.open(), opened)
        with Program(Shared) as program:
            self.assertEqual(program.open()["can"], ["await", "wait"])
        with Program(Coroutines) as program:
            self.assertEqual(program.open()["can"], ["cancel"])
        with Program(Coroutines) as program:
            self.assertEqual(program.open(protocol=1)["can"], [])

    def test_says_what_the_library_says(self):
        marked = {"lease_ms": 1000, "token": 12, "marks": ["text", "bytes", {"base64": "/w=="}]}
        with Program(Plain) as program:
            program.open()
            for word, key, fields in [
                ("acquire", "free", {"is": "granted", "marks": [], "by": []}),
                ("acquire", "taken", {"is": "refused"}),
                ("acquire", "unreachable", {"is": "refused", "reason": "unknown"}),
                ("acquire", "marked", {"is": "granted", **marked, "by": ["primary"]}),
                ("acquire", "lacking", {"is": "failed", "text": "'lacking'"}),
                ("renew", "free", {"is": "renewed"}),
                ("renew", "taken", {"is": "not-owner"}),
                ("renew", "marked", {"is": "renewed", "lease_ms": 500}),
                ("release", "free", {"is": "released"}),
                ("release", "mine", {"is": "not-owner"}),
                ("release", "taken", {"is": "not-owner"}),
                ("release", "twice", {"is": "released", "count": 1}),
                ("release", "silent", {"is": "released", "ownership": "unknown"}),
            ]:
                with self.subTest(word=word, key=key):
                    said = program.ask(word, key=key)
                    self.assertEqual(
                        {"marks": [], "by": [], **said}, {"marks": [], "by": [], **fields}
                    )

    def test_is_unsupported_what_nobody_knows(self):
        with Program(Plain) as program:
            self.assertEqual(program.ask("acquire", key="free")["is"], "unsupported")
            program.open()
            for word in ("dance", "await", "end-wait", "cancel"):
                self.assertEqual(program.ask(word, key="free")["is"], "unsupported")
            for how in ({"mode": "read"}, {"permits": 2}):
                self.assertEqual(program.ask("acquire", key="free", **how)["is"], "unsupported")

    def test_hands_on_what_the_adapter_asks_for(self):
        how = {"key": "k", "mode": "read", "permits": 2}
        with Program(Shared) as program:
            program.open()
            self.assertEqual(program.ask("acquire", **how)["marks"], ["read 2 None"])
            self.assertEqual(program.ask("acquire", **how, wait_ms=250)["marks"], ["read 2 0.25"])
            self.assertEqual(program.ask("release", **how)["is"], "released")
            self.assertEqual(program.ask("alive", **how)["is"], "held")
            self.assertEqual(program.ask("release", key="k")["is"], "not-owner")
            await_turn = program.ask("await", key="k", pause_us=1000, within_us=2_000_000)
            self.assertEqual(await_turn, {"is": "done"})
            self.assertEqual(program.ask("end-wait", key="k", granted=True), {"is": "done"})

    def test_counts_what_is_held(self):
        with Program(Plain) as program:
            program.open()
            for word, alive in [
                ("alive", "not-owner"),
                ("acquire", "held"),
                ("acquire", "held"),
                ("release", "held"),
                ("release", "not-owner"),
                ("release", "not-owner"),
                ("acquire", "held"),
            ]:
                program.ask(word, key="free")
                self.assertEqual(program.ask("alive", key="free"), {"is": alive})

    def test_an_error_fits_into_a_line_and_is_text(self):
        with Program(Plain) as program:
            program.open()
            said = program.ask("servers", servers=OPEN["servers"])
            self.assertEqual(said["is"], "error")
            self.assertTrue(said["text"].startswith("ConnectionError: ?xxx"), said["text"][:40])
            self.assertLess(len(said["text"]), 10_000)

    def test_ends_at_close_with_its_threads(self):
        with Program(Plain) as program:
            program.open()
            self.assertEqual(program.ask("touch", key="free"), {"is": "done"})
            self.assertEqual(program.ask("close"), {"is": "done"})
            output, log, status = program.end()
            self.assertEqual((output, status), ("", 0))
            self.assertIn("not an answer", log)

    def test_ends_with_its_input_though_a_call_hangs(self):
        with Program(Plain) as program:
            program.open()
            program.begin("acquire", key="hang")
            self.assertEqual(program.end()[::2], ("", 0))

    def test_answers_all_that_is_piped_in_at_once(self):
        asked = [{"id": 1, "do": "open", **OPEN}, {"id": 2, "do": "acquire", "key": "free"}]
        with Program(Plain) as program:
            program.say("\n".join(json.dumps(one) for one in asked))
            answers = program.end()[0].splitlines()
            self.assertEqual([json.loads(line)["is"] for line in answers], ["opened", "granted"])


class Input(unittest.TestCase):
    def test_ends_with_the_line_that_makes_no_sense(self):
        for line, why in [
            ("{", "line 2 of standard input: Expecting"),
            ("[]", "line 2 of standard input: it must be an object"),
            ('{"id": 1}', "line 2 of standard input: the request must have 'do'"),
            ('{"id": "x", "do": "close"}', "line 2 of standard input: 'id' must be a number"),
            ('{"go": 3}', "line 2 of standard input: no renewal 3 waits"),
            ('{"go": []}', "line 2 of standard input: unhashable"),
        ]:
            with self.subTest(line=line), Program(Plain) as program:
                program.ask("hello", protocol=2)
                program.say(line)
                output, log, status = program.end()
                self.assertEqual((output, status), ("", 65))
                self.assertIn(why, log)

    def test_names_the_field_that_is_missing(self):
        with Program(Plain) as program:
            failed = {"is": "failed", "text": "the request must have 'reply_timeout_ms'"}
            self.assertEqual(program.ask("open", client="a"), failed)
            program.open()
            failed["text"] = "the request must have 'key'"
            self.assertEqual(program.ask("acquire"), failed)

    def test_reads_who_to_be(self):
        watch = {"master": "m", "sentinels": [{"name": "s1", "address": "[::1]:26379"}]}
        request = {**OPEN, "renew_every_ms": 500, "identity": "me", "permits": 2}
        request["node_timeout_ms"] = 50
        client = kit.Client({**request, "sentinels": {**watch, "servers": OPEN["servers"]}})
        [(host, port)] = client.servers
        self.assertEqual((host, port, client.servers[0].name), ("127.0.0.1", 6379, "primary"))
        self.assertEqual((client.lease, client.renew_every, client.node_timeout), (1.5, 0.5, 0.05))
        self.assertEqual((client.patience, client.identity, client.seed), (0.5, "me", 7))
        self.assertEqual(client.permits, 2)
        self.assertEqual(client.sentinels.sentinels[0], ("::1", 26379))
        client = kit.Client({**OPEN, "lease_ms": None})
        self.assertEqual((client.lease, client.renew_every, client.sentinels), (None, None, None))

    def test_one_server_is_the_only_one(self):
        self.assertEqual(kit.only(["a"]), "a")
        for servers in ([], ["a", "b"]):
            with self.assertRaisesRegex(kit.Unsupported, f"here are {len(servers)}"):
                kit.only(servers)


class Cancel(unittest.TestCase):
    def test_gives_up_the_task_under_way(self):
        with Program(Coroutines) as program:
            program.open()
            under_way = program.begin("acquire", key="wait")
            self.assertEqual(program.ask("cancel", request=under_way), {"is": "done"})
            self.assertEqual(program.answer(under_way), {"is": "cancelled"})
            self.assertEqual(program.ask("alive", key="wait"), {"is": "not-owner"})
            self.assertEqual(program.ask("acquire", key="free")["is"], "granted")

    def test_a_request_that_ends_all_the_same_is_answered_as_it_ended(self):
        with Program(Coroutines) as program:
            program.open()
            under_way = program.begin("acquire", key="stubborn")
            time.sleep(0.2)
            self.assertEqual(program.ask("cancel", request=under_way), {"is": "done"})
            self.assertEqual(program.answer(under_way)["is"], "granted")
            self.assertEqual(program.ask("cancel", request=under_way), {"is": "done"})
            self.assertEqual(program.ask("alive", key="stubborn"), {"is": "held"})
            self.assertEqual(program.ask("release", key="stubborn"), {"is": "not-owner"})
            # Behind the answer that tells it.
            self.assertEqual(program.notes, [])
            self.assertEqual(program.note()["note"], "lost")
            self.assertEqual(program.ask("alive", key="stubborn"), {"is": "not-owner"})

    def test_a_task_that_the_library_cancels_is_an_error(self):
        with Program(Coroutines) as program:
            program.open()
            self.assertEqual(program.ask("acquire", key="own")["is"], "error")


class Gate(unittest.TestCase):
    def renewing(self, program, number):
        note = {"note": "renewing", "key": "k", "mode": "write", "number": number}
        self.assertEqual(program.note(), note)

    def test_renewals_wait_for_go_while_a_request_is_under_way(self):
        with Program(Watched) as program:
            program.open()
            program.ask("acquire", key="k")
            under_way = program.begin("acquire", key="slow")
            failed = {"is": "failed", "text": "refused"}
            outcomes = [{"is": "renewed"}, failed, {"is": "not-owner"}]
            for number, outcome in enumerate(outcomes, 1):
                self.renewing(program, number)
                program.say(json.dumps({"go": number}))
                note = {"note": "renewed", "number": number, "outcome": outcome}
                self.assertEqual(program.note(), note)
            self.assertEqual(program.answer(under_way)["is"], "granted")

    def test_a_renewal_that_is_skipped_is_not_sent(self):
        with Program(Watched) as program:
            program.open()
            program.ask("acquire", key="k")
            for number in (1, 2, 3):
                self.renewing(program, number)
                program.say(json.dumps({"skip": number}))
            note, after, _ = program.told()
            self.assertEqual(note, {"note": "lost", "key": "k", "mode": "write"})
            # The words about renewals are no requests.
            self.assertEqual(after, program.last)
            self.assertEqual(program.ask("alive", key="k"), {"is": "not-owner"})
            self.assertEqual(program.ask("release", key="k"), {"is": "released", "count": 0})

    def test_nothing_is_said_of_a_lock_that_was_never_granted(self):
        with Program(Watched) as program:
            program.open()
            self.assertEqual(program.ask("acquire", key="refused"), {"is": "refused"})
            time.sleep(0.5)
            self.assertEqual(program.ask("release", key="refused")["count"], 3)
            self.assertEqual(program.notes, [])

    def test_a_coroutine_passes_too_and_a_watchdog_that_is_stopped_tells_it(self):
        with Program(WatchedCoroutines) as program:
            program.open()
            program.ask("acquire", key="k")
            self.renewing(program, 1)
            program.say('{"skip": 1}')
            self.renewing(program, 2)
            program.say('{"go": 2}')
            self.assertEqual(program.note()["outcome"], {"is": "renewed", "lease_ms": 2000})
            self.renewing(program, 3)
            self.assertEqual(program.ask("release", key="k"), {"is": "released"})
            program.say('{"go": 3}')
            note = program.note()
            self.assertEqual((note["number"], note["outcome"]["is"]), (3, "failed"))


class Notes(unittest.TestCase):
    def test_lines_of_many_threads_stay_whole(self):
        with Program(Noisy) as program:
            program.open()
            self.assertEqual(program.ask("acquire", key="k")["is"], "granted")
            self.assertEqual(len(program.notes), 800)
            note = {"note": "routed", "from": "primary", "why": "x" * 1000}
            self.assertTrue(all({**note, "to": one["to"]} == one for one in program.notes))

    def test_alive_is_what_the_library_has_said(self):
        with Program(Noisy) as program:
            program.open()
            program.ask("acquire", key="k")
            program.notes.clear()
            for word, alive in [
                ("suspended", "suspended"),
                ("resumed", "held"),
                ("suspended", "suspended"),
                ("lost", "not-owner"),
            ]:
                self.assertEqual(program.ask("release", key=word), {"is": "failed", "text": word})
                self.assertEqual(program.note(), {"note": "queued", "key": "k"})
                note, after, _ = program.told()
                self.assertEqual(note, {"note": word, "key": "k", "mode": "write"})
                self.assertEqual(after, program.last)
                self.assertEqual(program.ask("alive", key="k"), {"is": alive})

    def test_a_note_says_how_long_after_a_request_it_was_told(self):
        with Program(Telling) as program:
            program.open()
            program.ask("acquire", key="k")
            begun = time.monotonic()
            request = program.begin("release", key="k")
            program.answer(request)
            note, after, seconds = program.told()
            elapsed = time.monotonic() - begun
            self.assertEqual((note["note"], after), ("suspended", request))
            self.assertTrue(PAUSE <= seconds < elapsed, f"{seconds} of {elapsed}")

    def test_a_note_behind_an_answer_says_when_it_was_told(self):
        with Program(Telling) as program:
            program.open()
            program.ask("acquire", key="k")
            begun = time.monotonic()
            request = program.begin("renew", key="k")
            self.assertEqual(program.answer(request), {"is": "renewed"})
            note, after, seconds = program.told()
            elapsed = time.monotonic() - begun
            self.assertEqual((note["note"], after), ("lost", request))
            # The call went on for a pause more.
            self.assertTrue(PAUSE <= seconds < elapsed - PAUSE, f"{seconds} of {elapsed}")


if __name__ == "__main__":
    serve(globals()[sys.argv[1]]())
