"""The clients of script/cluster-test: a small client for graphql-transport-ws, and what writes, reads and subscribes
over all nodes and records what it was told.

Clients do what a user's client does: when a connection breaks, or nothing comes for a while, they go to another node.
"""

import asyncio
import base64
import contextlib
import json
import os
import struct
import time
from collections import Counter

from cluster_checker import Operation

SCHEMA = '''
interface Node { id: ID! }
type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  list(name: ID!): List @lookup
  register(key: ID!): Register @lookup
}
type List implements Node {
  id: ID!
  name: String! @unique
  entries(after: String, first: Int, before: String, last: Int): EntryConnection
  total: Int! @count(field: "entries")
}
type Entry implements Node { id: ID! text: String! padding: String }
type EntryConnection { edges: [EntryEdge] pageInfo: PageInfo! }
type EntryEdge { node: Entry cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type Register implements Node { id: ID! key: String! @unique value: String }
type Mutation {
  addList(input: AddListInput!): AddListPayload @create(type: "List")
  addEntry(input: AddEntryInput!): AddEntryPayload @create(type: "Entry", into: "List.entries", parent: "listId")
  addRegister(input: AddRegisterInput!): AddRegisterPayload @create(type: "Register")
  setValue(input: SetValueInput!): SetValuePayload @update(type: "Register")
}
input AddListInput { name: String! }
type AddListPayload { list: List! }
input AddEntryInput { text: String! padding: String listId: ID! }
type AddEntryPayload { entry: Entry! list: List! }
input AddRegisterInput { key: String! }
type AddRegisterPayload { register: Register! }
input SetValueInput { id: ID! value: String! }
type SetValuePayload { register: Register! }
type Subscription {
  entryAdded(listId: ID): AddEntryPayload @on(mutations: ["addEntry"])
  list(name: ID!): List @lookup @live
}
'''

ADD_LIST = "mutation ($name: String!) { addList(input: {name: $name}) { list { id } } }"
ADD_ENTRY = """mutation ($list: ID!, $text: String!, $padding: String) {
  addEntry(input: {listId: $list, text: $text, padding: $padding}) { entry { id } } }"""
ADD_TWO = """mutation ($list: ID!, $text: String!, $second: String!) {
  first: addEntry(input: {listId: $list, text: $text}) { entry { id } }
  second: addEntry(input: {listId: $list, text: $second}) { entry { id } } }"""
ADD_REGISTER = "mutation ($key: String!) { addRegister(input: {key: $key}) { register { id } } }"
SET_VALUE = "mutation ($id: ID!, $value: String!) { setValue(input: {id: $id, value: $value}) { register { id } } }"
READ = """query ($name: ID!, $last: Int!) {
  list(name: $name) { total entries(last: $last) { edges { node { text } } } } }"""
GET = "query ($key: ID!) { register(key: $key) { value } }"
EVENTS = "subscription ($list: ID!) { entryAdded(listId: $list) { entry { text } } }"
LIVE = "subscription ($name: ID!) { list(name: $name) { total entries(last: 3) { edges { node { text } } } } }"
ALL = 1_000_000

# What the server says when it has done nothing. Everything else that is not known leaves the outcome open.
NOTHING_DONE = {"OVERLOADED", "STORAGE_FULL", "BEHIND"}
# A client that resends its own mutations with ids gets an answer; these say that something went wrong.
NEVER = {"ALREADY_APPLIED", "MUTATION_ID_REUSED", "MUTATION_ID_TOO_OLD", "BAD_USER_INPUT", "NOT_FOUND", "CONFLICT",
         "FORBIDDEN", "UNAUTHENTICATED", "LIMIT_EXCEEDED"}

CONNECT_SECONDS = 3

# The loop itself does not keep its tasks.
receiving = set()


class Lost(Exception):
    """The connection is gone."""


def sequence(cursor):
    return int(cursor.rsplit("-", 1)[1], 16)


class Connection:
    """A WebSocket (RFC 6455) to one node, with the subprotocol graphql-transport-ws."""

    def __init__(self, node):
        self.node = node
        self.pending, self.number = {}, 0
        self.reason = "closed by us"
        self.open = False

    @classmethod
    async def connect(cls, node):
        connection = cls(node)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection._connect()
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            connection.close()
            raise Lost(f"{node.name}: {error!r}") from None
        except BaseException:
            connection.close()
            raise
        return connection

    async def _connect(self):
        self.reader, self.writer = None, None
        self.reader, self.writer = await asyncio.open_connection(self.node.host, self.node.port, limit=1 << 24)
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(
            f"GET /graphql HTTP/1.1\r\nHost: {self.node.host}:{self.node.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise EOFError(head.split(b"\r\n")[0])
        self.send({"type": "connection_init"})
        while (message := await self._message())["type"] != "connection_ack":
            if message["type"] == "ping":
                self.send({"type": "pong"})
        self.open = True
        self.task = asyncio.create_task(self._receive())
        receiving.add(self.task)
        self.task.add_done_callback(receiving.discard)

    def send(self, message):
        self._frame(1, json.dumps(message).encode())

    def _frame(self, opcode, payload):
        key = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | opcode]) + (
            bytes([0x80 | size]) if size < 126 else
            struct.pack("!BH", 0xFE, size) if size < 1 << 16 else struct.pack("!BQ", 0xFF, size))
        mask = (key * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(mask, "big")).to_bytes(size, "big")
        self.writer.write(head + key + masked)

    async def _message(self):
        parts = []
        while True:
            first, second = await self.reader.readexactly(2)
            size = second & 0x7F
            if size == 126:
                size, = struct.unpack("!H", await self.reader.readexactly(2))
            elif size == 127:
                size, = struct.unpack("!Q", await self.reader.readexactly(8))
            payload = await self.reader.readexactly(size)
            opcode = first & 0x0F
            if opcode == 8:
                code = struct.unpack("!H", payload[:2])[0] if size >= 2 else 1005
                raise EOFError(f"closed with {code} {payload[2:].decode(errors='replace')}")
            if opcode == 9:
                self._frame(10, payload)
            elif opcode < 3:
                parts.append(payload)
                if first & 0x80:
                    return json.loads(b"".join(parts))

    async def _receive(self):
        try:
            while True:
                message = await self._message()
                kind = message["type"]
                if kind == "ping":
                    self.send({"type": "pong"})
                    if cursor := ((message.get("payload") or {}).get("relay") or {}).get("cursor"):
                        for queue in list(self.pending.values()):
                            queue.put_nowait({"type": "progress", "cursor": cursor})
                elif message.get("id") in self.pending:
                    self.pending[message["id"]].put_nowait(message)
        except (OSError, EOFError) as error:
            self.reason = repr(error)
        finally:
            self.open = False
            for queue in self.pending.values():
                queue.put_nowait(None)
            self.writer.close()

    def begin(self, query, variables, relay):
        if not self.open:
            raise Lost(f"{self.node.name}: {self.reason}")
        self.number += 1
        identifier = str(self.number)
        self.pending[identifier] = asyncio.Queue()
        payload = {"query": query, "variables": variables}
        if relay:
            payload["extensions"] = {"relay": relay}
        self.send({"id": identifier, "type": "subscribe", "payload": payload})
        return identifier

    async def next(self, identifier):
        message = await self.pending[identifier].get()
        if message is None:
            raise Lost(f"{self.node.name}: {self.reason}")
        return message

    async def execute(self, query, variables, relay=None):
        """The one result; errors before execution have the same form."""
        identifier = self.begin(query, variables, relay)
        try:
            result = None
            while True:
                message = await self.next(identifier)
                if message["type"] == "next":
                    result = message["payload"]
                elif message["type"] == "error":
                    return {"errors": message["payload"]}
                elif message["type"] == "complete":
                    return result
        finally:
            del self.pending[identifier]

    def close(self):
        """At once, without farewell."""
        self.open = False
        if getattr(self, "task", None):
            self.task.cancel()
        if getattr(self, "writer", None):
            self.writer.close()


class Requests:
    """The same over HTTP, one request after the other on one connection."""

    def __init__(self, node):
        self.node, self.open = node, False

    @classmethod
    async def connect(cls, node):
        connection = cls(node)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                connection.reader, connection.writer = await asyncio.open_connection(
                    node.host, node.port, limit=1 << 24)
        except (OSError, TimeoutError) as error:
            raise Lost(f"{node.name}: {error!r}") from None
        connection.open = True
        return connection

    async def execute(self, query, variables, relay=None):
        body = json.dumps({"query": query, "variables": variables} |
                          ({"extensions": {"relay": relay}} if relay else {})).encode()
        try:
            self.writer.write(
                f"POST /graphql HTTP/1.1\r\nHost: {self.node.host}:{self.node.port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            result = json.loads(await self.reader.readexactly(int(fields["content-length"])))
        except (OSError, EOFError) as error:
            self.close()
            raise Lost(f"{self.node.name}: {error!r}") from None
        except BaseException:
            # What arrives later would be taken for the next answer.
            self.close()
            raise
        if fields.get("connection") == "close":
            self.close()
        return result

    def close(self):
        self.open = False
        self.writer.close()


def code_of(result):
    errors = (result or {}).get("errors")
    return ((errors[0].get("extensions") or {}).get("code") or "?") if errors else None


def cursor_of(result):
    return ((result.get("extensions") or {}).get("relay") or {}).get("cursor")


class Load:
    """What all clients of one round share."""

    def __init__(self, cluster, name, random):
        self.cluster, self.name, self.random = cluster, name, random
        self.operations = []
        # The newest cursor that anybody was told, as it is sent.
        self.newest = None
        self.problems = []
        self.counts = Counter()
        self.errors = Counter()
        self.ending = False
        self.deadline = float("inf")
        self.list = self.list_id = self.begin = None

    @staticmethod
    def now():
        return time.monotonic()

    def saw(self, cursor):
        if cursor and (self.newest is None or sequence(cursor) > sequence(self.newest)):
            self.newest = cursor

    def record(self, **fields):
        self.operations.append(Operation(**fields))

    def problem(self, text):
        self.problems.append(text)

    def end(self, seconds):
        """Clients finish what they have begun, within so many seconds."""
        self.deadline = self.now() + seconds
        self.ending = True


class Client:
    # How often it makes requests over HTTP instead of a WebSocket.
    over_http = 0.2

    def __init__(self, load, name, patience=None):
        self.load, self.name = load, name
        self.random = type(load.random)(load.random.random())
        # Some wait until the server gives up.
        self.patience = patience or self.random.choice([3.0, 6.0, 12.0])
        self.node = self.random.choice(load.cluster.nodes)
        self.connection = None
        self.cursor = None
        self.connecting = asyncio.Lock()

    async def connected(self):
        async with self.connecting:
            return await self._connected()

    async def _connected(self):
        if self.connection is None or not self.connection.open:
            self.connection = None
            kind = Requests if self.random.random() < self.over_http else Connection
            self.connection = await kind.connect(self.node)
        return self.connection

    def leave(self, node=None):
        """Goes to another node."""
        if self.connection:
            self.connection.close()
        self.connection = None
        others = [each for each in self.load.cluster.nodes if each is not self.node] or [self.node]
        self.node = node or self.random.choice(others)

    async def pause(self, seconds):
        await asyncio.sleep(self.random.uniform(0.3, 1.7) * seconds)

    async def attempt(self, query, variables, relay=None):
        """Sends something once. The result; None if it was not sent; Lost if it was, and there is no answer."""
        try:
            connection = await self.connected()
        except Lost:
            self.leave()
            return None
        try:
            async with asyncio.timeout(self.patience):
                result = await connection.execute(query, variables, relay)
        except TimeoutError:
            self.load.counts["without an answer in time"] += 1
            self.leave()
            raise Lost(f"{connection.node.name}: no answer in {self.patience} s") from None
        except Lost:
            self.load.counts["lost connections"] += 1
            self.leave()
            raise
        if result is None:
            self.leave()
            raise Lost("completed without a result")
        code = code_of(result)
        if code:
            self.load.errors[f"{code}: {result['errors'][0].get('message', '')[:160]}"] += 1
            if code in NEVER:
                self.load.problem(f"{self.name} at {connection.node.name} was told {json.dumps(result)[:600]} for "
                                  f"{json.dumps(variables)} {json.dumps(relay)}")
        cursor = cursor_of(result)
        if cursor and not code:
            self.load.saw(cursor)
            if self.cursor is None or sequence(cursor) > sequence(self.cursor):
                self.cursor = cursor
        self.answered_by = connection.node.name
        return result

    async def mutate(self, query, variables, identity=None):
        """Until the outcome is known, if there is an identity; otherwise until it was sent. The outcome, and the
        result."""
        while True:
            try:
                result = await self.attempt(query, variables, {"mutationId": identity} if identity else None)
            except Lost as error:
                if identity is None:
                    return "unknown", {"why": f"{self.load.now():.4f}: {error!r}"}
                result = None
            if result is not None:
                code = code_of(result)
                if code is None:
                    return "ok", result
                if code in NEVER:
                    return "unknown", result
                if identity is None:
                    return ("refused" if code in NOTHING_DONE else "unknown"), result
                await self.pause(0.1)
                if self.random.random() < 0.3:
                    self.leave()
            else:
                await self.pause(0.05)
            if self.load.now() > self.load.deadline:
                if identity:
                    self.load.problem(
                        f"{self.name}: a mutation with the id {identity} is still not answered, though everything "
                        f"works again; the last that came back was {json.dumps(result)[:300]}")
                return ("unknown" if identity else "refused"), None

    async def read(self, promise, last, key=None, final=False, at=None):
        """Reads the list, or a register, with what it promises, or as it was. None if there was no result."""
        at_least = {"newest": self.load.newest, "session": self.cursor, "none": None}[promise]
        start = self.load.now()
        relay = {"atLeast": at_least} if at_least else {}
        if at:
            relay["at"] = at
        try:
            result = await self.attempt(*((GET, {"key": key}) if key else
                                          (READ, {"name": self.load.list, "last": last})), relay)
        except Lost:
            return None
        if result is None or code_of(result):
            return None
        end = self.load.now()
        cursor = cursor_of(result)
        shared = {"client": self.name, "start": start, "end": end, "cursor": sequence(cursor) if cursor else None,
                  "at_least": sequence(at_least) if at_least else None, "promise": promise, "node": self.answered_by}
        if at:
            shared |= {"at_least": None, "promise": "none"}
            if shared["cursor"] != at:
                self.load.problem(f"{self.name} at {self.answered_by} asked for the state at {at}, and was told that "
                                  f"of {cursor}")
        data = result["data"]
        if key:
            operation = Operation(kind="get", key=key, value=(data["register"] or {}).get("value"), **shared)
        else:
            operation = reading(data["list"], self.load.list, **shared)
            if final and len(operation.tail) != operation.length:
                self.load.problem(f"there are {operation.length} entries, and {len(operation.tail)} are listed")
        self.load.operations.append(operation)
        return operation


def reading(found, name, **shared):
    found = found or {"total": 0, "entries": {"edges": []}}
    tail = tuple(each["node"]["text"] for each in (found["entries"] or {"edges": []})["edges"])
    return Operation(kind="read", key=name, length=found["total"], tail=tail, **shared)


# MARK: What clients do

async def write_list(load, name, pace, with_ids, moving=0.1):
    """Adds numbered entries."""
    client = Client(load, name)
    other = Client(load, f"{name}'")
    unguessable = os.urandom(16).hex()
    number = 0
    while not load.ending:
        number += 1
        text = f"{name}-{number}"
        identity = f"{unguessable}:{number}" if with_ids else None
        start = load.now()
        variables = {"list": load.list_id, "text": text}
        chance = client.random.random()
        if chance > 0.95:
            variables["padding"] = "x" * client.random.choice([1_000, 10_000, 100_000, 500_000])
        if with_ids and 0.1 < chance < 0.2:
            # Two commits. The cursor of the answer is that of the second.
            variables["second"] = f"{text}+"
            end, (outcome, result) = await timed(load, client.mutate(ADD_TWO, variables, identity))
            record_mutation(load, "append", load.list, name, start, end, outcome, None, text, client)
            text = variables["second"]
        elif with_ids and chance < 0.08:
            # Twice at once, at two nodes.
            other.leave()
            answers = await asyncio.gather(timed(load, client.mutate(ADD_ENTRY, variables, identity)),
                                           timed(load, other.mutate(ADD_ENTRY, variables, identity)))
            known = [each for each in answers if each[1][0] == "ok"]
            if len({json.dumps(each[1][1]["data"]) for each in known}) > 1:
                load.problem(f"a mutation that was sent twice was answered differently: {text}: "
                             f"{[each[1][1]['data'] for each in known]}")
            end, (outcome, result) = min(known, key=lambda each: each[0]) if known else answers[0]
            load.counts["sent twice at once"] += 1
        else:
            end, (outcome, result) = await timed(load, client.mutate(ADD_ENTRY, variables, identity))
        record_mutation(load, "append", load.list, name, start, end, outcome, result, text, client)
        await client.pause(pace)
        if client.random.random() < moving:
            client.leave()
    client.leave()
    other.leave()


async def write_many(load, name, pace):
    """Several at once, over one connection."""
    client = Client(load, name)
    client.over_http = 0
    unguessable = os.urandom(16).hex()
    number = 0

    async def write(number):
        start, text = load.now(), f"{name}-{number}"
        variables = {"list": load.list_id, "text": text}
        outcome, result = await client.mutate(ADD_ENTRY, variables, f"{unguessable}:{number}")
        record_mutation(load, "append", load.list, name, start, load.now(), outcome, result, text, client)

    while not load.ending:
        count = client.random.randint(2, 10)
        await asyncio.gather(*(write(number + each) for each in range(1, count + 1)))
        number += count
        await client.pause(pace)
        if client.random.random() < 0.1:
            client.leave()
    client.leave()


async def timed(load, mutation):
    result = await mutation
    return load.now(), result


def record_mutation(load, kind, key, name, start, end, outcome, result, value, client):
    cursor = cursor_of(result) if result and outcome == "ok" else None
    load.record(kind=kind, key=key, client=name, start=start, end=end if outcome != "unknown" else None,
                outcome=outcome, value=value, cursor=sequence(cursor) if cursor else None,
                node=getattr(client, "answered_by", ""), why=json.dumps(result) if outcome == "unknown" else "")


async def read_list(load, name, promise, pace):
    client = Client(load, name)
    while not load.ending:
        last = client.random.choice([0, 1, 5, 20, 20, 20, ALL])
        past = None
        if promise == "session" and client.cursor and client.random.random() < 0.2:
            past = client.random.randint(sequence(load.begin), sequence(client.cursor))
        await client.read(promise, last, at=past)
        await client.pause(pace)
        if client.random.random() < (0.5 if promise == "session" else 0.2):
            client.leave()
    client.leave()


async def live_session(load, name, pace):
    """Adds and reads in turn, at any node, with its own last cursor."""
    client = Client(load, name)
    unguessable = os.urandom(16).hex()
    number = 0
    while not load.ending:
        number += 1
        text = f"{name}-{number}"
        start = load.now()
        variables = {"list": load.list_id, "text": text}
        outcome, result = await client.mutate(ADD_ENTRY, variables, f"{unguessable}:{number}")
        record_mutation(load, "append", load.list, name, start, load.now(), outcome, result, text, client)
        client.leave()
        found = await client.read("session", 20)
        if outcome == "ok" and found and text not in found.tail:
            # Not a proof: others may have added twenty since.
            load.counts["own addition far back"] += 1
        await client.pause(pace)
        client.leave()


async def use_register(load, name, key, writes, pace):
    client = Client(load, name)
    unguessable = os.urandom(16).hex()
    number = 0
    while not load.ending:
        if writes:
            number += 1
            value = f"{name}-{number}"
            identity = f"{unguessable}:{number}" if client.random.random() < 0.8 else None
            start = load.now()
            outcome, result = await client.mutate(SET_VALUE, {"id": key, "value": value}, identity)
            record_mutation(load, "set", key, name, start, load.now(), outcome, result, value, client)
        else:
            await client.read("newest", 0, key=key)
        await client.pause(pace)
        if client.random.random() < 0.2:
            client.leave()
    client.leave()


class Subscriber(Client):
    """Subscribes, and moves to another node with the last cursor: when a connection breaks, when nothing has come for
    five seconds (a node says every second how far it is), and now and then for no reason."""

    QUIET = 5.0
    over_http = 0

    def __init__(self, load, name, live):
        super().__init__(load, name)
        self.live = live
        # Of events: pairs of text and sequence. Of a live query: readings.
        self.received = []
        self.cursor = None if live else load.begin
        self.moves = 0
        self.done = False

    async def run(self):
        while not self.done:
            try:
                await self.follow()
            except Lost:
                pass
            except TimeoutError:
                self.load.counts["streams that were silent"] += 1
            if not self.done:
                self.moves += 1
                self.leave()
                await self.pause(0.05)
        self.leave()

    async def follow(self):
        connection = await self.connected()
        query, variables = (LIVE, {"name": self.load.list}) if self.live else (EVENTS, {"list": self.load.list_id})
        identifier = connection.begin(query, variables, {"resume": self.cursor} if self.cursor else None)
        resumed, asked = self.cursor, self.load.now()
        until = self.load.now() + self.random.uniform(1, 8)
        first = self.cursor is not None
        while not self.done:
            if self.load.now() > until and not self.load.ending:
                return
            async with asyncio.timeout(self.QUIET):
                message = await connection.next(identifier)
            kind = message["type"]
            if kind == "progress":
                if not first:
                    self.advance(message["cursor"])
            elif kind == "next":
                payload = message["payload"]
                relay = (payload.get("extensions") or {}).get("relay") or {}
                if payload.get("errors"):
                    self.load.problem(f"{self.name} at {self.node.name} got {json.dumps(payload)[:400]}")
                    return
                if first:
                    first = False
                    if relay.get("recovered") is not True:
                        self.load.problem(f"{self.name} could not resume at {self.node.name} after {resumed}, asked at "
                                          f"{asked:.4f}, told at {self.load.now():.4f}: "
                                          f"{json.dumps(payload)[:400]}")
                        return
                    continue
                self.take(payload["data"], relay.get("cursor"))
            elif kind == "error":
                code = code_of({"errors": message["payload"]})
                self.load.errors[f"of a stream: {code}: {message['payload'][0].get('message', '')[:160]}"] += 1
                if code == "SLOW_CONSUMER":
                    self.advance(message["payload"][0]["extensions"]["relay"]["cursor"])
                elif code in NEVER:
                    self.load.problem(f"{self.name} at {self.node.name} was told {json.dumps(message)[:400]}")
                await self.pause(0.2)
                return
            elif kind == "complete":
                return

    def advance(self, cursor):
        if cursor and (self.cursor is None or sequence(cursor) > sequence(self.cursor)):
            self.cursor = cursor

    def take(self, data, cursor):
        at = sequence(cursor) if cursor else None
        if self.live:
            now = self.load.now()
            self.received.append(reading(data["list"], self.load.list, client=self.name, start=now, end=now,
                                         cursor=at, node=self.node.name))
        else:
            self.received.append((data["entryAdded"]["entry"]["text"], at))
        if cursor:
            self.cursor = cursor

    def has_all(self, final):
        """Whether as much has come as there is. (Whether it is the right thing is for the check.)"""
        if self.live:
            return bool(self.received) and self.received[-1].length >= len(final)
        return len(self.received) >= len(final)


class Probe:
    """From a fault on, tries a mutation at the next node every 20 ms, until the fault is over and one is answered. With
    what the other clients were answered this says how long nobody could write. It has a list of its own."""

    def __init__(self, load, list_name, list_id):
        self.load, self.list, self.list_id = load, list_name, list_id
        self.operations = []
        # When those that began after the fault were answered.
        self.answers = []
        self.over = False
        self.tasks = set()
        self.connections = {}

    async def run(self, since):
        number = 0
        try:
            while not (self.over and self.answers) and self.load.now() < self.load.deadline:
                node = self.load.cluster.nodes[number % len(self.load.cluster.nodes)]
                number += 1
                if len(self.tasks) < 400:
                    task = asyncio.create_task(self.attempt(node, f"probe-{number}", since))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                await asyncio.sleep(0.02)
            if self.tasks:
                await asyncio.wait(self.tasks, timeout=8)
        finally:
            for task in self.tasks:
                task.cancel()
            for connection in self.connections.values():
                if isinstance(connection, Connection):
                    connection.close()

    def longest(self, since, operations):
        """The longest time after the fault in which no mutation was answered that had begun after it."""
        answers = sorted(self.answers + [each.end for each in operations if each.kind in ("append", "set") and
                                         each.known and each.start >= since])
        return max((after - before for before, after in zip([since, *answers], answers)), default=None)

    async def connected(self, node):
        """One connection to each node, and one attempt at a time to make it."""
        held = self.connections.get(node)
        if isinstance(held, Connection) and held.open:
            return held
        if not isinstance(held, asyncio.Task) or held.done():
            held = self.connections[node] = asyncio.create_task(Connection.connect(node))
        connection = await asyncio.shield(held)
        self.connections[node] = connection
        return connection

    async def attempt(self, node, text, since):
        with contextlib.suppress(Lost):
            try:
                connection = await self.connected(node)
            except Lost:
                return
            start = self.load.now()
            outcome, end, cursor, why = "unknown", None, None, ""
            try:
                async with asyncio.timeout(20):
                    result = await connection.execute(ADD_ENTRY, {"list": self.list_id, "text": text})
                code = code_of(result) if result else "?"
                if code is None:
                    outcome, cursor = "ok", cursor_of(result)
                    self.load.saw(cursor)
                    if start >= since:
                        self.answers.append(self.load.now())
                elif code in NOTHING_DONE:
                    outcome = "refused"
                if code:
                    why = f"{self.load.now():.4f}: {code}"
                    self.load.errors[f"{code}: {(result or {}).get('errors', [{}])[0].get('message', '')[:160]}"] += 1
            except (Lost, TimeoutError) as error:
                why = f"{self.load.now():.4f}: {error!r}"
            finally:
                end = self.load.now() if outcome != "unknown" else None
                self.operations.append(Operation(
                    "append", self.list, "probe", start, end, outcome, text,
                    cursor=sequence(cursor) if cursor else None, node=node.name, why=why))
