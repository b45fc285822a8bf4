"""What breaks in script/cluster-test. Each function named `break_…` is a fault: it gets a `Round` (cluster_test.py),
says when something is broken, and returns when it is repaired. Nobody helps the servers to go on after that.
"""

import asyncio
import os
import shutil
import time

from cluster_machines import SECONDS, Failed

# Those that need a network or a disk of our own.
NEED_ISOLATION = {"net-node-pg", "net-nodes", "net-all", "net-flap", "pg-power", "disk-full"}


async def until(condition, what, seconds=SECONDS):
    """The first value of `condition`, a function that may block, that is true."""
    deadline = time.monotonic() + seconds
    while True:
        found = await asyncio.to_thread(condition)
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(what() if callable(what) else what)
        await asyncio.sleep(0.02)


async def break_kill9_writer(current):
    node = await current.leader()
    current.broken()
    await current.away(node.kill)
    await current.lasts(*current.random.choice([(0, 0.5), (1, 8)]))
    await current.start(node)


async def break_term_writer(current):
    """Not a fault, but what an upgrade does."""
    node = await current.leader()
    current.broken()
    await current.away(node.end)
    await current.lasts(0, 3)
    await current.start(node)


async def break_kill9_successors(current):
    """The writer, and then whoever takes over, as soon as it does. The last node is left alone."""
    killed = []
    current.broken()
    for _ in range(len(current.cluster.nodes) - 1):
        node = await until(lambda: (found := current.cluster.leader()) and found not in killed and found,
                           lambda: f"nobody else leads after {[each.name for each in killed]}")
        await current.away(node.kill)
        killed.append(node)
    await current.lasts(0, 3)
    for node in killed:
        await current.start(node)


async def break_kill9_starting(current):
    """A node is killed again while it starts."""
    leader = await current.leader()
    node = leader if current.random.random() < 0.5 else current.other_than(leader)
    current.broken()
    await current.away(node.kill)
    for _ in range(current.random.randint(1, 4)):
        await current.lasts(0, 0.5)
        node.launch()
        await current.lasts(0.05, 1.5)
        await current.away(node.kill)
    await current.start(node)


async def break_stutter(current):
    """Nodes stop and go on, some for less than a lease and some for more."""
    current.broken()
    for _ in range(current.random.randint(3, 6)):
        count = current.random.choice([1, 1, 2, len(current.cluster.nodes)])
        nodes = current.random.sample(current.cluster.nodes, count)
        for node in nodes:
            node.pause()
        try:
            await current.lasts(*current.random.choice([(0.05, 1), (0.5, 4), (4.5, 5.5)]))
        finally:
            for node in nodes:
                node.resume()
        await current.lasts(0, 1)


async def break_net_flap(current):
    """The network is cut and healed, here and there."""
    for number in range(current.random.randint(3, 7)):
        names = current.random.sample([*current.cluster.network.ports], 2)
        if current.random.random() < 0.5 and "pg" not in names:
            names[0] = "pg"
        try:
            await current.away(current.cluster.network.cut, *names)
            if number == 0:
                current.broken()
            await current.lasts(*current.random.choice([(0.05, 1), (0.5, 4), (4, 7)]))
        finally:
            await current.away(current.cluster.network.heal)
        await current.lasts(0, 1)


async def break_kill9_all(current):
    nodes = list(current.cluster.nodes)
    current.random.shuffle(nodes)
    current.broken()
    for node in nodes:
        node.kill()
    for node in nodes:
        node.launch()
    for node in nodes:
        await current.away(current.cluster.wait_for, node)


async def break_stop_writer(current):
    node = await current.leader()
    current.broken()
    node.pause()
    try:
        other = await until(lambda: (found := current.cluster.leader()) and found is not node and found,
                            "nobody else leads while the writer is stopped")
        await current.lasts(0, 3)
    finally:
        node.resume()
    current.says(f"{node.name} stopped, {other.name} led")

    def follows():
        journal, nodes = current.cluster.status()
        found = nodes[node.name]
        return found["term"] == journal["term"] and found["silentMilliseconds"] < 3000 and (
            found["role"] == "follower" or journal["writer"] == node.name)
    await until(follows, lambda: f"{node.name} was stopped and does not follow: {current.situation()}")


async def break_node_disk(current):
    """A node that ends at once, and whose copy is gone, has lost its end, or is damaged."""
    leader = await current.leader()
    node = leader if current.random.random() < 0.5 else current.other_than(leader)
    current.broken()
    await current.away(node.kill)
    how = current.random.choice(["gone", "cut", "damaged"])
    current.says(f"{node.name}, {'the writer' if node is leader else 'a follower'}: {how}")
    await current.away(spoil, node.data, how, current.random)
    await current.start(node)


def spoil(directory, how, generator):
    if how == "gone":
        shutil.rmtree(directory)
        return
    def numbers(name, suffix):
        names = os.listdir(os.path.join(directory, name))
        return sorted(int(each.removesuffix(suffix)) for each in names if each.endswith(suffix))
    # A start reads what is behind the newest checkpoint, and the last segment.
    segments, checkpoint = numbers("segments", ".log"), max(numbers("checkpoints", ".checkpoint"), default=0)
    first = generator.choice([each for each in segments if each > checkpoint] or segments[-1:])
    path = os.path.join(directory, "segments", f"{first:020}.log")
    with open(path, "r+b") as file:
        # What is not used yet is zeros.
        used = len(file.read().rstrip(b"\0"))
        place = generator.randrange(used)
        if how == "cut":
            file.truncate(place)
        else:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1 << generator.randrange(8)]))


async def break_pg_sessions(current):
    """PostgreSQL ends all sessions, again and again, in the middle of what they do."""
    current.broken()
    for _ in range(current.random.randint(3, 25)):
        await current.away(current.cluster.postgresql.query,
                        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and "
                        f"backend_type = 'client backend' and random() < {current.random.choice([0.3, 1.1])}", False)
        await current.lasts(0, 0.4)


async def break_pg_restart(current):
    current.broken()
    for _ in range(current.random.choice([1, 1, 3])):
        await current.away(current.cluster.postgresql.stop)
        await current.away(current.cluster.postgresql.start)
        await current.lasts(0, 0.5)


async def break_pg_kill(current):
    current.broken()
    await current.away(current.cluster.postgresql.kill)
    await current.lasts(*current.random.choice([(0, 0.5), (0, 0.5), (2, 9)]))
    await current.away(current.cluster.postgresql.start)


async def break_net_node_pg(current):
    leader = await current.leader()
    node = leader if current.random.random() < 0.5 else current.other_than(leader)
    current.says(f"{node.name}, {'the writer' if node is leader else 'a follower'}")
    if current.random.random() < 0.7:
        return await cut(current, 1, 14, node.name, "pg")
    current.says("until it says that it is not ready")
    try:
        await current.away(current.cluster.network.cut, node.name, "pg")
        current.broken()
        await until(lambda: not node.is_ready(), f"{node.name} does not reach PostgreSQL, and says that it is ready")
    finally:
        await current.away(current.cluster.network.heal)


async def break_net_nodes(current):
    leader = await current.leader()
    one = leader if current.random.random() < 0.67 else current.other_than(leader)
    other = current.other_than(one)
    current.says(f"{one.name} and {other.name}; {leader.name} leads")
    await cut(current, 1, 12, one.name, other.name)


async def break_net_all(current):
    """Nodes and PostgreSQL, all from one another. Clients reach the nodes."""
    await cut(current, 1, 12, *current.cluster.network.ports)


async def cut(current, least, most, *names):
    """None of them hears another one for a while."""
    try:
        await current.away(current.cluster.network.cut, *names)
        current.broken()
        await current.lasts(least, most)
    finally:
        await current.away(current.cluster.network.heal)


async def break_pg_stop(current):
    """It says nothing for a while, and no connection breaks."""
    current.broken()
    await current.away(current.cluster.postgresql.freeze)
    try:
        await current.lasts(*current.random.choice([(0.5, 4), (5, 14)]))
    finally:
        await current.away(current.cluster.postgresql.thaw)


async def break_pg_kill_and_kill9_writer(current):
    node = await current.leader()
    current.broken()
    await current.away(current.cluster.postgresql.kill)
    await current.lasts(0, 0.3)
    await current.away(node.kill)
    await current.lasts(0, 3)
    await current.away(current.cluster.postgresql.start)
    await current.start(node)


async def break_stop_all(current):
    """All nodes, until nobody has the lease any more."""
    nodes = list(current.cluster.nodes)
    current.broken()
    for node in nodes:
        node.pause()
    try:
        await until(lambda: current.cluster.leader() is None, "the lease does not run out")
        await current.lasts(0, 1)
    finally:
        current.random.shuffle(nodes)
        for node in nodes:
            node.resume()
            await current.lasts(0, 0.2)


async def break_pg_power(current, late=0):
    """The disk is copied as it is at one instant, and PostgreSQL goes on with the copy."""
    volume, postgresql = current.cluster.volume, current.cluster.postgresql
    current.broken()
    await current.away(postgresql.freeze)
    await current.away(volume.copy_as_it_is)
    if late:
        # --prove: what is acknowledged after the copy is lost.
        await current.away(postgresql.thaw)
        await current.goes_on(late, "no load", [])
    await current.away(postgresql.kill)
    await current.away(volume.lose_power)
    await current.away(postgresql.start)


async def break_pg_failover(current):
    """PostgreSQL is lost with its disk, and the standby that commits waited for takes its place."""
    cluster, primary = current.cluster, current.cluster.postgresql
    await current.away(primary.add_standby)
    standby = primary.standby
    journal, _ = await current.away(cluster.status)
    if not journal["waitsForStandby"]:
        raise Failed("relay journal status does not say that commits wait for the standby")
    await current.goes_on(20, "with a standby, mutations are not answered", [])
    current.broken()
    if current.random.random() < 0.5:
        # What the primary has written meanwhile is lost with it, and was not acknowledged.
        await current.away(standby.freeze)
        await current.lasts(0, 3)
        current.says("the standby was behind")
    await current.away(primary.kill)
    standby.thaw()
    await current.lasts(*current.random.choice([(0, 0.5), (2, 9)]))
    await current.away(standby.promote)
    cluster.postgresql = standby
    await current.away(primary.remove)


async def break_disk_full(current):
    volume, postgresql = current.cluster.volume, current.cluster.postgresql
    log = os.path.getsize(postgresql.log)
    try:
        await current.away(volume.fill)
        current.broken()
        if current.random.random() < 0.5:
            # Until there is no room for the write-ahead log either, at which PostgreSQL gives up.
            use_up = "select pg_switch_wal(), pg_logical_emit_message(false, '', '')"
            for _ in range(40):
                if await current.away(postgresql.query, use_up, False) is None:
                    break
        await current.lasts(2, 7)
    finally:
        await current.away(volume.free)
    await current.away(postgresql.start)
    with open(postgresql.log, errors="replace") as file:
        file.seek(log)
        text = file.read()
    current.says(f"no space left {text.count('No space left')} times" + (", PANIC" if "PANIC" in text else ""))


FAULTS = {
    "kill9-writer": break_kill9_writer, "stop-writer": break_stop_writer, "pg-restart": break_pg_restart,
    "pg-kill": break_pg_kill, "net-node-pg": break_net_node_pg, "net-nodes": break_net_nodes,
    "pg-power": break_pg_power, "disk-full": break_disk_full, "term-writer": break_term_writer,
    "kill9-all": break_kill9_all, "stop-all": break_stop_all, "pg-stop": break_pg_stop,
    "pg-sessions": break_pg_sessions, "node-disk": break_node_disk,
    "kill9-successors": break_kill9_successors, "kill9-starting": break_kill9_starting, "stutter": break_stutter,
    "net-flap": break_net_flap, "pg-and-writer": break_pg_kill_and_kill9_writer, "net-all": break_net_all,
    "pg-failover": break_pg_failover,
}
