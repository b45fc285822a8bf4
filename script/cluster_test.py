"""script/cluster-test: several servers on one journal, broken on purpose while clients use them.

A round: clients write, read and subscribe over all nodes; something breaks at a random moment
(script/cluster_faults.py) and is repaired; the clients go on for a while and end; then everything that they were told
is compared with what all nodes have (script/cluster_checker.py). Several rounds share a cluster, in random order, so
that one fault meets what another has left. When a cluster is stopped its nodes' copies are compared as well.

Everything random comes from the seed, which is printed. What the machine does is not random, but not repeatable either.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
import traceback
import unittest
from collections import Counter
from dataclasses import asdict, replace

import cluster_checker as checker
import cluster_checker_test
from cluster_faults import FAULTS, NEED_ISOLATION, break_pg_power, until
from cluster_load import (ADD_LIST, ADD_REGISTER, ALL, SCHEMA, Client, Load, Probe, Subscriber, cursor_of,
                          live_session, read_list, use_register, write_list,
                          write_many)
from cluster_machines import SECONDS, Cluster, Failed, Network

# How many rounds a cluster lives.
ROUNDS_OF_A_CLUSTER = 12


class Round:
    def __init__(self, cluster, name, fault, seed):
        self.cluster, self.name, self.fault = cluster, name, fault
        self.random = random.Random(seed)
        self.load = Load(cluster, name, self.random)
        self.said = []
        self.probing = None
        self.reads = self.streams = self.moves = self.acknowledged = self.unknown = self.lost = self.doubled = 0
        self.probe, self.events, self.lives = None, [], []
        self.problems = []

    # MARK: What faults use

    async def leader(self):
        return await until(self.cluster.leader, "nobody leads")

    def other_than(self, node):
        return self.random.choice([each for each in self.cluster.nodes if each is not node] or [node])

    def says(self, text):
        self.said.append(text)

    def broken(self):
        """Is called just before something breaks."""
        self.since = time.monotonic()
        for node in self.cluster.nodes:
            node.note(f"{self.fault} in {self.name}")
        self.probing = asyncio.create_task(self.probe.run(self.since))

    async def lasts(self, least, most):
        await asyncio.sleep(self.random.uniform(least, most))

    async def away(self, function, *arguments):
        return await asyncio.to_thread(function, *arguments)

    async def start(self, node):
        node.launch()
        await self.away(self.cluster.wait_for, node)

    # MARK: A round

    async def run(self):
        """What is wrong, in sentences."""
        load = self.load
        admin = Client(load, "admin", patience=30)
        await self.prepare(admin)
        count = self.cluster.options.streams
        self.events = [Subscriber(load, f"events-{number}", live=False) for number in range(count)]
        self.lives = [Subscriber(load, f"live-{number}", live=True) for number in range(count)]
        for number, each in enumerate(self.events):
            each.node = self.cluster.nodes[number % len(self.cluster.nodes)]
        streams = [asyncio.create_task(each.run()) for each in self.events + self.lives]
        clients = [
            *(write_list(load, f"w{number}", 0.06, with_ids=True) for number in range(3)),
            *(write_list(load, f"p{number}", 0.08, with_ids=False) for number in range(2)),
            write_many(load, "m0", 0.3),
            *(read_list(load, f"r{number}", "newest", 0.08) for number in range(2)),
            read_list(load, "s0", "session", 0.08), read_list(load, "n0", "none", 0.1), live_session(load, "l0", 0.08),
            *(use_register(load, f"{key}-{kind}{number}", key, kind == "w", 0.2)
              for key in self.registers for kind, number in (("w", 0), ("w", 1), ("r", 0), ("r", 1)))]
        working = [asyncio.create_task(each) for each in clients]
        tasks = streams + working
        try:
            await self.goes_on(20, "the load does not begin", tasks)
            await self.lasts(0.2, 1.5)
            await FAULTS[self.fault](self)
            self.probe.over = True
            # By itself, without anybody's help.
            await self.goes_on(15, "after everything was repaired, mutations are not answered", tasks)
            load.end(SECONDS)
            await asyncio.gather(*working)
            if self.probing:
                await self.probing
            await self.check()
        finally:
            for each in self.events + self.lives:
                each.done = True
            for task in tasks + ([self.probing] if self.probing else []):
                task.cancel()
            await asyncio.gather(*tasks, *([self.probing] if self.probing else []), return_exceptions=True)
            admin.leave()

    async def prepare(self, admin):
        load = self.load
        self.registers = [f"{self.name}-a", f"{self.name}-b"]
        ids = {}
        for query, variables in [(ADD_LIST, {"name": self.name}), (ADD_LIST, {"name": f"{self.name}-probe"}),
                                 *((ADD_REGISTER, {"key": key}) for key in self.registers)]:
            outcome, result = await admin.mutate(query, variables, f"{os.urandom(16).hex()}:1")
            if outcome != "ok":
                raise Failed(f"{variables} could not be added: {json.dumps(result)}")
            ids.update({variables.get("name"): (result["data"].get("addList") or {}).get("list", {}).get("id")})
        load.list, load.list_id, load.begin = self.name, ids[self.name], cursor_of(result)
        self.probe = Probe(load, f"{self.name}-probe", ids[f"{self.name}-probe"])

    def answered(self):
        return sum(1 for each in self.load.operations if each.known and each.kind in ("append", "set"))

    async def goes_on(self, count, what, tasks):
        """Waits until so many more mutations are answered."""
        begin, deadline = self.answered(), time.monotonic() + SECONDS
        while self.answered() < begin + count:
            for task in tasks:
                if task.done() and task.exception():
                    raise task.exception()
            if time.monotonic() > deadline or not all(node.is_running() for node in self.cluster.nodes):
                seconds = time.monotonic() - deadline + SECONDS
                raise Failed(f"{what}: {self.answered() - begin} of {count} in {seconds:.0f} s; errors that clients "
                             f"were told: {dict(self.load.errors)}; {await self.away(self.situation)}")
            await asyncio.sleep(0.02)

    def situation(self):
        ended = [f"{node.name} has ended with exit code {node.process.returncode}: {node.last_words()}"
                 for node in self.cluster.nodes if not node.is_running()]
        try:
            journal, nodes = ({}, {}) if self.cluster.options.files else self.cluster.status()
        except Exception as error:  # noqa: BLE001  It is only told.
            return "; ".join([*ended, f"no status: {error}"])
        told = [f"{name}: {node['role']}, term {node['term']}, at {node['sequence']}, silent for "
                f"{node['silentMilliseconds']} ms" for name, node in nodes.items()]
        return "; ".join([*ended, f"journal at {journal.get('sequence')}, term {journal.get('term')}, writer "
                          f"{journal.get('writer')} for {journal.get('leaseMilliseconds')} ms", *told])

    # MARK: The end of a round

    async def check(self):
        for node in self.cluster.nodes:
            if not node.is_running():
                raise Failed(f"{node.name} ended by itself with exit code {node.process.returncode}: "
                             f"{node.last_words()}")
            await until(node.is_ready, lambda node=node: f"{node.name} is not ready, though everything works again: "
                                                         f"{self.situation()}")
        # What has no answer may be carried out late, even now. What is wrong stays wrong.
        for attempt in range(4):
            problems = await self.check_once()
            if not problems:
                break
            if attempt == 0:
                first = problems
        self.problems = (first if problems else []) + self.load.problems
        self.problems += await self.away(self.check_journal)

    async def everywhere(self, read):
        """What each node says, when all have caught up."""
        found = {}
        for node in self.cluster.nodes:
            client = Client(self.load, f"last-{node.name}", patience=20)
            deadline = time.monotonic() + SECONDS
            while True:
                client.leave(node)
                operation = await read(client)
                if operation is not None:
                    break
                if time.monotonic() > deadline:
                    raise Failed(f"{node.name} does not reach what has been acknowledged: "
                                 f"{await self.away(self.situation)}; errors: {dict(self.load.errors)}")
                await asyncio.sleep(0.1)
            found[node.name] = operation
            client.leave()
        return found

    async def read_all(self, name):
        async def read(client):
            operation = await client.read("newest", ALL, final=True)
            return operation
        listed, self.load.list = self.load.list, name
        try:
            return {node: each.tail for node, each in (await self.everywhere(read)).items()}
        finally:
            self.load.list = listed

    async def check_once(self):
        load, problems = self.load, []
        finals = await self.read_all(self.name)
        probes = await self.read_all(self.probe.list)
        for states in (finals, probes):
            (name, first), *others = states.items()
            problems += [f"{name} and {other} are not the same: {difference(first, state)}"
                         for other, state in others if state != first]
        final, self.final = list(finals[self.cluster.nodes[0].name]), finals
        for key in self.registers:
            await self.everywhere(lambda client, key=key: client.read("newest", 0, key=key))
        # Streams have time to arrive. What is missing then is missing.
        deadline = time.monotonic() + 30
        while not all(each.has_all(final) for each in self.events + self.lives) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        operations = list(load.operations)
        of_list = [each for each in operations if each.key == self.name and each.kind in ("append", "read")]
        problems += checker.check_list(final, of_list)
        problems += checker.check_sessions(of_list)
        problems += checker.check_list(list(probes[self.cluster.nodes[0].name]), self.probe.operations +
                                       [each for each in operations if each.key == self.probe.list])
        for key in self.registers:
            problems += checker.check_register([each for each in operations if each.key == key])
        for each in self.events:
            problems += [f"{each.name}, moved {each.moves} times: {problem}"
                         for problem in checker.check_events(final, 0, each.received)]
        for each in self.lives:
            problems += [f"{each.name}, moved {each.moves} times: {problem}"
                         for problem in checker.check_live(final, each.received)]
        mutations = [each for each in operations + self.probe.operations if each.kind in ("append", "set")]
        self.acknowledged = sum(1 for each in mutations if each.known)
        self.unknown = sum(1 for each in mutations if each.outcome == "unknown")
        added = [each for each in of_list + self.probe.operations if each.kind == "append"]
        there = Counter(final) + Counter(probes[self.cluster.nodes[0].name])
        self.lost = sum(1 for each in added if each.known and not there[each.value])
        self.doubled = sum(1 for count in there.values() if count > 1)
        self.reads = sum(1 for each in operations if each.kind in ("read", "get"))
        self.streams = len(self.events) + len(self.lives)
        self.moves = sum(each.moves for each in self.events + self.lives)
        return problems

    def check_journal(self):
        if self.cluster.options.files:
            return []
        problems = []
        # Nodes tell their hashes about once a second. They are compared until they are about the same event.
        deadline, compared = time.monotonic() + 15, False
        while not (problems or compared) and time.monotonic() < deadline:
            _, nodes = self.cluster.status()
            hashes = {}
            for name, node in nodes.items():
                if node.get("stateHash"):
                    hashes.setdefault(node["stateSequence"], {}).setdefault(node["stateHash"], []).append(name)
            problems += [f"states after event {at} differ: {found}" for at, found in hashes.items() if len(found) > 1]
            compared = len(hashes) == 1 and sum(map(len, *map(dict.values, hashes.values()))) == len(self.cluster.nodes)
            time.sleep(0.05)
        if not (compared or problems):
            self.says("state hashes were of different events: " + ", ".join(
                f"{name} at {node.get('stateSequence')}" for name, node in nodes.items()))
        self.load.counts["rounds in which state hashes of all nodes were compared"] += compared
        done = self.cluster.relay("journal", "verify", self.cluster.postgresql.url, check=False)
        if done.returncode != 0:
            problems.append(f"relay journal verify: exit code {done.returncode}: {(done.stdout + done.stderr)[-800:]}")
        # The same, without our own program.
        wrong = self.cluster.postgresql.query(
            "select seq, term, before, after from (select seq, term, lag(term) over w as before, lag(last) over w as "
            "after from relay_journal.frames window w as (order by seq)) as rows "
            "where term < before or seq <> after + 1 limit 1")
        if wrong:
            problems.append(f"a frame does not follow on the one before (sequence|term, before: term|last): {wrong}")
        return problems


def difference(one, other):
    index = next((each for each in range(min(len(one), len(other))) if one[each] != other[each]),
                 min(len(one), len(other)))
    return f"{len(one)} and {len(other)} entries, different from entry {index + 1} on: {one[index:index + 2]}, " \
           f"{other[index:index + 2]}"


# MARK: Rounds

class Session:
    def __init__(self, options):
        self.options = options
        self.directory = tempfile.mkdtemp(prefix="cluster-test-")
        os.chmod(self.directory, 0o711)
        options.schema = os.path.join(self.directory, "schema.graphql")
        with open(options.schema, "w") as file:
            file.write(SCHEMA)
        self.network = Network(options.isolated, options.names)
        self.cluster = None
        self.clusters = self.rounds_of_cluster = 0
        self.past = []
        self.totals = Counter()
        self.without_writer = {}
        self.failures = []
        self.errors, self.counts = Counter(), Counter()
        self.keep = set()

    async def begin(self):
        self.clusters += 1
        self.rounds_of_cluster, self.past = 0, []
        directory = os.path.join(self.directory, f"cluster{self.clusters}")
        lazy = random.Random(f"{self.options.seed}/{self.clusters}").random() < 0.5
        self.cluster = await asyncio.to_thread(Cluster, directory, self.network, self.options, lazy)
        await asyncio.to_thread(self.cluster.start)

    async def round(self, number, fault):
        seed = f"{self.options.seed}/{number}/{fault}"
        if self.cluster is None:
            await self.begin()
        current = Round(self.cluster, f"round{number}", fault, seed)
        began = time.monotonic()
        try:
            await current.run()
        except Failed as failure:
            current.problems = [str(failure), *current.load.problems]
        except Exception:  # noqa: BLE001  This test itself is wrong; what there is is kept.
            current.problems = [traceback.format_exc()]
        self.rounds_of_cluster += 1
        took = current.probe.longest(current.since, current.load.operations) if current.probing else None
        if took is not None:
            self.without_writer.setdefault(fault, []).append(took)
        self.totals.update(rounds=1, acknowledged=current.acknowledged, lost=current.lost, doubled=current.doubled,
                           reads=current.reads, streams=current.streams, moves=current.moves,
                           unknown=current.unknown)
        self.counts.update(current.load.counts)
        self.errors.update(current.load.errors)
        print(f"{number:4}  {fault:16}  {'ok ' if not current.problems else 'BAD'}  "
              f"{time.monotonic() - began:5.1f} s  {current.acknowledged:5} acknowledged, "
              f"{current.unknown} without an answer, {current.reads} reads, {current.streams} streams that moved "
              f"{current.moves} times"
              + (f", no writer for {took:.2f} s" if took is not None else "")
              + (f"; {'; '.join(current.said)}" if current.said else ""), flush=True)
        if current.problems or self.options.keep:
            self.keep_history(current)
        if current.problems:
            await self.fail(f"round {number} ({fault}, seed {seed})", current.problems)
        else:
            self.past.append((current.name, current.final))
            if self.rounds_of_cluster >= ROUNDS_OF_A_CLUSTER:
                await self.finish()
        return current

    def keep_history(self, current):
        with open(os.path.join(self.cluster.directory, f"{current.name}.history"), "w") as file:
            operations = current.load.operations + (current.probe.operations if current.probe else [])
            for operation in sorted(operations, key=lambda each: each.start):
                told = {key: value for key, value in asdict(operation).items() if value is not None}
                file.write(json.dumps(told) + "\n")
            for each in current.events + current.lives:
                file.write(json.dumps({"stream": each.name, "received": [
                    asdict(one) if isinstance(one, checker.Operation) else one for one in each.received]}) + "\n")

    async def fail(self, where, problems):
        self.failures.append((where, problems))
        print(f"      {where}: {problems[0]}", flush=True)
        for problem in problems[1:6]:
            print(f"      also: {problem}", flush=True)
        self.keep.add(self.cluster.directory)
        # A new cluster, as this one may stay broken.
        await asyncio.to_thread(self.cluster.destroy)
        self.cluster = None

    async def finish(self):
        """Stops the cluster, and compares what its nodes leave."""
        cluster = self.cluster
        try:
            problems = await self.check_past()
            problems += await asyncio.to_thread(self.check_copies)
        except Failed as failure:
            problems = [str(failure)]
        if problems:
            await self.fail(f"the end of cluster {self.clusters}", problems)
            return
        await asyncio.to_thread(cluster.destroy)
        if not self.options.keep:
            await asyncio.to_thread(cluster.remove)
        self.cluster = None

    async def check_past(self):
        """What was there after each round is still there, at each node."""
        problems = []
        for name, finals in self.past:
            current = Round(self.cluster, name, "none", 0)
            current.load.list = name
            for node, now in (await current.read_all(name)).items():
                # What nobody was answered may have come since.
                if now[:len(finals[node])] != finals[node] or len(set(now)) != len(now):
                    problems.append(f"what {node} has of {name} has changed since: {difference(finals[node], now)}")
        return problems

    def check_copies(self):
        cluster, problems, heads = self.cluster, [], {}
        if self.options.files:
            cluster.nodes[0].end()
        else:
            # The order is random, so that another one may take over while they stop.
            for node in random.Random(self.clusters).sample(cluster.nodes, len(cluster.nodes)):
                node.end()
        for node in cluster.nodes:
            done = cluster.relay("log", "verify", node.data, "--json", check=False)
            if done.returncode != 0:
                problems.append(f"relay log verify of the copy of {node.name}: exit code {done.returncode}: "
                                f"{(done.stdout + done.stderr)[-600:]}")
            else:
                heads[node.name] = json.loads(done.stdout.splitlines()[0])["head"]["sequence"]
        if problems:
            return problems
        at = min(heads.values())
        sources = {node.name: node.data for node in cluster.nodes}
        if not self.options.files:
            sources["the journal"] = cluster.postgresql.url
        states = {}
        for name, source in sources.items():
            text = cluster.relay("replay", source, "state", "--json", "--at", str(at)).stdout
            states.setdefault(hashlib.sha256(text.encode()).hexdigest(), []).append(name)
        if not self.options.files:
            problems += self.check_export()
        if len(states) > 1:
            problems.append(f"after event {at}, relay replay state differs: {list(states.values())}")
        self.totals.update(copies=len(heads))
        return problems

    def check_export(self):
        """A journal that is exported is the same history."""
        cluster = self.cluster
        directory = os.path.join(cluster.directory, "exported")
        cluster.relay("journal", "export", cluster.postgresql.url, directory)
        head = json.loads(cluster.relay("log", "verify", directory, "--json").stdout.splitlines()[0])["head"]
        journal, _ = cluster.status()
        if (head["sequence"], head["hash"]) != (journal["sequence"], journal["head"]):
            return [f"what relay journal export wrote ends with {head}, the journal with {journal}"]
        return []

    def summary(self):
        print(f"\n{self.totals['rounds']} rounds on {self.clusters} clusters: {self.totals['acknowledged']} mutations "
              f"acknowledged, {self.totals['lost']} of them lost, {self.totals['doubled']} carried out twice, "
              f"{self.totals['unknown']} without an answer; {self.totals['reads']} reads checked, "
              f"{self.totals['streams']} subscriptions checked, which moved {self.totals['moves']} times; "
              f"{self.totals['copies']} copies compared")
        if self.without_writer:
            print("time without a writer, in seconds: the longest after the fault in which no mutation was answered")
            print(f"    {'':16}  {'rounds':>6}  {'median':>6}  {'worst':>6}")
            for fault, times in self.without_writer.items():
                print(f"    {fault:16}  {len(times):6}  {statistics.median(times):6.2f}  {max(times):6.2f}")
        print("; ".join(f"{text}: {count}" for text, count in sorted(self.counts.items())))
        for text, count in self.errors.most_common(8):
            print(f"told to clients {count} times: {text}")
        for where, problems in self.failures:
            print(f"FAILED: {where}: {problems[0]}")

    async def end(self):
        if self.cluster:
            await asyncio.to_thread(self.cluster.destroy)
        if self.options.keep or self.failures:
            print(f"kept: {self.directory}")
        else:
            shutil.rmtree(self.directory)


# MARK: --prove: this test finds what is wrong

async def prove(session):
    """Breaks things that no server would repair, and expects to be told of each."""
    options, generator = session.options, random.Random(session.options.seed)
    missed = []

    def found(what, problems):
        print(f"{'found' if problems else 'MISSED'}: {what}" + (f": {problems[0]}" if problems else ""), flush=True)
        if not problems:
            missed.append(what)

    current = await right_round(session)
    final = list(current.final[session.cluster.nodes[0].name])
    operations = [each for each in current.load.operations if each.key == current.name]
    found("the answers of two mutations changed places",
          checker.check_list(final, checker.swapped(operations, generator)))
    found("a reading that is stale", checker.check_list(final, checker.made_stale(final, operations, generator)))
    acknowledged = [each.value for each in operations if each.kind == "append" and each.known]
    found("an acknowledged mutation that is not there",
          checker.check_list([each for each in final if each != acknowledged[-1]], operations))
    found("a mutation that was carried out twice", checker.check_list(final + [acknowledged[0]], operations))
    found("an event that did not arrive",
          checker.check_events(final, 0, checker.without_one(current.events[0].received, generator)))
    found("an event that arrived twice",
          checker.check_events(final, 0, current.events[0].received + current.events[0].received[-1:]))
    register = [each for each in current.load.operations if each.key == current.registers[0]]
    written = [each for each in register if each.kind == "set" and each.known]
    found("a register that has an old value again", checker.check_register(register + [replace(
        next(each for each in register if each.kind == "get"), value=written[0].value, cursor=None,
        start=current.load.now(), end=current.load.now() + 1)]))
    if options.files:
        return missed

    for what, change in [("the last frames deleted, and the nodes' copies with them", delete_frames),
                         ("a frame of an earlier term behind one of a later term", lower_term),
                         ("a byte of a node's copy changed", change_copy),
                         ("a disk that lost what it had acknowledged", lose_disk)]:
        if change is lose_disk and not options.isolated:
            continue
        if session.cluster is None:
            current = await right_round(session)
        try:
            problems = await change(session, current)
        except Failed as failure:
            problems = [str(failure)]
        found(what, problems)
        if session.cluster:
            await asyncio.to_thread(session.cluster.destroy)
            session.cluster = None
    return missed


async def right_round(session):
    current = await session.round(session.totals["rounds"] + 1, "kill9-writer")
    if current.problems:
        raise Failed("there is no right round to begin with")
    return current


async def delete_frames(session, current):
    """As whoever restores an old backup."""
    cluster = session.cluster
    for node in cluster.nodes:
        await asyncio.to_thread(node.end)
    cursors = sorted(each.cursor for each in current.load.operations if each.kind == "append" and each.cursor)
    cluster.postgresql.query(f"delete from relay_journal.frames where last >= {cursors[-10]}; "
                             "delete from relay_journal.nodes")
    for node in cluster.nodes:
        shutil.rmtree(node.data)
    await asyncio.to_thread(cluster.start)
    # Who asks for what it has seen gets no answer; this is about those that do not.
    current.load.newest = None
    return await current.check_once()


async def lower_term(session, current):
    """As if a writer that was overtaken had got a frame in."""
    session.cluster.postgresql.query("update relay_journal.frames set term = 1 where seq = "
                                     "(select max(seq) from relay_journal.frames)")
    return await asyncio.to_thread(current.check_journal)


async def change_copy(session, current):
    cluster = session.cluster
    for node in cluster.nodes:
        await asyncio.to_thread(node.end)
    segments = os.path.join(cluster.nodes[0].data, "segments")
    with open(os.path.join(segments, sorted(os.listdir(segments))[0]), "r+b") as file:
        file.seek(1000)
        byte = file.read(1)
        file.seek(1000)
        file.write(bytes([byte[0] ^ 1]))
    return await asyncio.to_thread(session.check_copies)


async def lose_disk(session, current):
    FAULTS["pg-power late"] = lambda self: break_pg_power(self, late=20)
    current = await session.round(session.totals["rounds"] + 1, "pg-power late")
    session.failures.clear()
    return current.problems


def parse():
    parser = argparse.ArgumentParser(prog="script/cluster-test", description=__doc__.split("\n")[0])
    parser.add_argument("--relay", default=None, help="the program (default: the built one)")
    parser.add_argument("--rounds", type=int, default=None, help="of each fault (default: 10)")
    parser.add_argument("--seed", default=None, help="repeats a run's choices")
    parser.add_argument("--only", action="append", choices=list(FAULTS), help="this fault; may be given several times")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="leave everything where it was")
    parser.add_argument("--quick", action="store_true", help="each fault once")
    parser.add_argument("--prove", action="store_true", help="break what must be noticed, and see that it is")
    parser.add_argument("--argument", action="append", default=[], help="one more argument for relay serve")
    parser.add_argument("--files", action="store_true",
                        help="one server on its own files, without a journal: what a single node promises")
    parser.add_argument("--failures", type=int, default=3, help="stop after so many (default: 3)")
    parser.add_argument("--streams", type=int, default=3, help="of each kind (default: 3)")
    parser.add_argument("--isolated", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def plan(options):
    """The faults in the order in which they will come, and those that cannot be tried here."""
    if options.files:
        wanted = options.only or ["kill9-writer", "term-writer"]
    else:
        wanted = options.only or list(FAULTS)
    skipped = [] if options.isolated else [each for each in wanted if each in NEED_ISOLATION]
    wanted = [each for each in wanted if each not in skipped]
    rounds = options.rounds or (1 if options.quick else 10)
    order = wanted * rounds
    random.Random(options.seed).shuffle(order)
    return order, skipped


def check_the_checker():
    tests = unittest.defaultTestLoader.loadTestsFromModule(cluster_checker_test)
    with open(os.devnull, "w") as silence:
        result = unittest.TextTestRunner(stream=silence).run(tests)
    for test, trace in result.failures + result.errors:
        print(f"{test}: {trace}")
    print(f"the checker: {result.testsRun} tests, {len(result.failures) + len(result.errors)} failed")
    return result.wasSuccessful()


async def main(options):
    order, skipped = plan(options)
    for fault in skipped:
        print(f"SKIPPED: {fault}: this needs root, and namespaces of its own, which cannot be made here")
    session = Session(options)
    what = "prove" if options.prove else f"{len(order)} rounds"
    print(f"seed {options.seed}; {what}; {session.directory}", flush=True)
    try:
        if options.prove:
            missed = await prove(session)
            return 1 if missed else 0
        for number, fault in enumerate(order, 1):
            await session.round(number, fault)
            if len(session.failures) >= options.failures:
                print("too many failures; no more rounds")
                break
        if session.cluster:
            await session.finish()
        if session.failures:
            return 1
        return 1 if skipped and not options.quick else 0
    finally:
        # Also of what was interrupted.
        if not options.prove:
            session.summary()
        await session.end()


if __name__ == "__main__":
    # The first process of a namespace would not be ended by it otherwise.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse()
    arguments.seed = arguments.seed or str(random.SystemRandom().randrange(1_000_000))
    arguments.names = [f"n{number}" for number in range(1, (1 if arguments.files else arguments.nodes) + 1)]
    arguments.node_arguments = arguments.argument
    if not check_the_checker():
        sys.exit(1)
    sys.exit(asyncio.run(main(arguments)))
