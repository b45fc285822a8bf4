"""What script/cluster-test has seen, and whether one copy of the data, used by one client at a time, could give it.

A history is a list of `Operation`. All of them have been recorded by one process, with one monotonic clock. Each check
returns a list of sentences: what is wrong, with the least that shows it. An empty list means that nothing is wrong.

Lists (`check_list`): entries are added at the end, each text is added once, and nothing is removed. So the list as it
is when all is over says in which order the additions took effect, and a reading of N entries says that it took effect
after the Nth and before the next one. That leaves one question, which is answered exactly: is there an operation that
ended before another began, and took effect after it?

Registers (`check_register`): values are written over one another. There the order has to be searched for, which takes
exponential time in the worst case, so histories are kept short (the search is that of Wing and Gong, which remembers
where it has been, as Lowe's and porcupine's do).

An operation without an answer (`outcome` "unknown") may have taken effect at any time after its beginning, or never.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Operation:
    # "append", "read" (of a list), "set", "get" (of a register)
    kind: str
    key: str
    client: str
    start: float
    # None: there has been no answer.
    end: float | None = None
    # "ok", "unknown", or "refused": the server said that nothing was done.
    outcome: str = "ok"
    # What was added or written, or what a register had.
    value: str | None = None
    # Of a reading: how many entries there were, and the last ones of them.
    length: int | None = None
    tail: tuple = ()
    # The sequence that the answer named.
    cursor: int | None = None
    # The sequence that the request named, and whether that was the newest that anybody had seen ("newest"), the
    # newest that its own client had seen ("session"), or none.
    at_least: int | None = None
    promise: str = "none"
    node: str = ""
    # Why there is no answer, for whoever reads a history.
    why: str = ""

    @property
    def known(self):
        return self.outcome == "ok"

    def __str__(self):
        what = {"append": f"adds {self.value}", "set": f"writes {self.value}", "get": f"reads {self.value}",
                "read": f"reads {self.length} entries, at last {self.tail[-1] if self.tail else 'none'}"}[self.kind]
        end = "no answer" if self.end is None else f"{self.end:.4f}"
        more = [f"cursor {self.cursor}"] if self.cursor is not None else []
        more += [f"at least {self.at_least}"] if self.at_least is not None else []
        more += [self.outcome] if self.outcome != "ok" else []
        return f"[{self.start:.4f} to {end}] {self.client} at {self.node or '?'} {what}" + \
            (f" ({', '.join(more)})" if more else "")


# MARK: Lists

def check_list(final, operations, at_most=5):
    """Whether `operations` on one list, which in the end is `final` (texts, in order), can be put in one order that is
    also that of the clock, for all additions and all readings that asked for the newest state. Readings that asked for
    less may be late, but not early."""
    problems = []
    place = {}
    for index, text in enumerate(final):
        if text in place:
            problems.append(f"carried out twice: {text} is entry {place[text] + 1} and entry {index + 1}")
        else:
            place[text] = index
    additions = {}
    for operation in operations:
        if operation.kind != "append":
            continue
        if operation.value in additions:
            raise ValueError(f"the history adds {operation.value} twice")
        additions[operation.value] = operation
        if operation.outcome == "ok" and operation.value not in place:
            problems.append(f"lost: {operation}, but it is not in the final state")
        if operation.outcome == "refused" and operation.value in place:
            problems.append(f"refused, and carried out all the same: {operation}")
    for text in final:
        if text not in additions:
            problems.append(f"from nowhere: nobody has added {text}")
    readings = [each for each in operations if each.kind == "read" and each.known]
    for reading in readings:
        problems += check_prefix(final, reading)
    # What does not fit the final state at all has no place in an order.
    if problems:
        return problems[:at_most]
    ordered = [additions[text] for text in final]
    return (check_cursors(ordered, readings) + check_early(ordered, readings) +
            check_clock(ordered, [each for each in readings if each.promise == "newest"]))[:at_most]


def check_prefix(final, reading):
    """A reading is a beginning of the final list."""
    length, tail = reading.length, list(reading.tail)
    if length > len(final):
        return [f"gone: {reading}, but in the end there are {len(final)}"]
    expected = list(final[length - len(tail):length])
    if len(tail) > length or tail != expected:
        index = next((each for each in range(len(tail)) if tail[each] != (expected + [None] * len(tail))[each]), 0)
        other = expected[index] if index < len(expected) else "nothing"
        return [f"another order: {reading}; entry {length - len(tail) + index + 1} is {tail[index]}, in the final "
                f"state {other}"]
    return []


def check_cursors(ordered, readings):
    """The order of the list is that of the answers' cursors, and a reading is the state at its cursor."""
    problems = []
    last = None
    for index, operation in enumerate(ordered):
        if operation.cursor is None:
            continue
        if last and operation.cursor <= last[1].cursor:
            problems.append(f"cursors in another order than entries: entry {last[0] + 1}: {last[1]}; then entry "
                            f"{index + 1}: {operation}")
        last = (index, operation)
    for reading in readings:
        if reading.cursor is None:
            continue
        if reading.at_least is not None and reading.cursor < reading.at_least:
            problems.append(f"older than asked for: {reading}")
        before = ordered[:reading.length]
        late = next((each for each in reversed(before) if each.cursor is not None), None)
        if late and late.cursor > reading.cursor:
            problems.append(f"a reading has what is later than its cursor: {reading}, with {late}")
        missed = next((each for each in ordered[reading.length:] if each.cursor is not None), None)
        if missed and missed.cursor <= reading.cursor:
            problems.append(f"a reading lacks what is not later than its cursor: {reading}, without {missed}")
    return problems


def check_early(ordered, readings):
    """Nothing is seen before it was asked for."""
    latest, problems = [], []
    for operation in ordered:
        latest.append(operation if not latest or operation.start > latest[-1].start else latest[-1])
    for reading in readings:
        if reading.length and latest[reading.length - 1].start > reading.end:
            problems.append(f"seen before it was asked for: {reading}, with {latest[reading.length - 1]}")
    return problems


def check_clock(ordered, readings):
    """No operation that ended before another began took effect after it. An addition that became entry N took effect
    at 2N - 1, a reading of N entries at 2N; readings at the same place can be put in any order, and so in the right
    one."""
    placed = [(2 * index + 1, each) for index, each in enumerate(ordered)]
    placed += [(2 * each.length, each) for each in readings]
    placed.sort(key=lambda each: each[0], reverse=True)
    problems, first, index = [], None, 0
    while index < len(placed):
        after = index
        while after < len(placed) and placed[after][0] == placed[index][0]:
            after += 1
        for _, operation in placed[index:after]:
            # `first`: which of those that took effect later ended first.
            if first and first.end < operation.start:
                problems.append(f"against the clock: {first}; afterwards {operation}, which took effect before it")
        for _, operation in placed[index:after]:
            if operation.end is not None and operation.known and (first is None or operation.end < first.end):
                first = operation
        index = after
    return problems


def check_sessions(operations, at_most=5):
    """A client that names its last cursor sees everything that it has seen or done before, at whatever node: what it
    reads of one list does not become shorter, its own additions are in it, and its cursors do not go back."""
    problems, sessions = [], {}
    for operation in operations:
        if operation.known and operation.end is not None and \
                (operation.promise in ("session", "newest") or operation.kind == "append"):
            sessions.setdefault((operation.client, operation.key), []).append(operation)
    for session in sessions.values():
        session.sort(key=lambda each: each.start)
        longest = newest = None
        for operation in session:
            if operation.kind not in ("read", "append"):
                continue
            before = longest if longest and longest.end <= operation.start else None
            if operation.kind == "read" and before and operation.length < before.length:
                problems.append(f"a session goes back: {before}; then {operation}")
            if operation.kind == "read" and operation.cursor is not None and newest and \
                    newest.end <= operation.start and operation.cursor < newest.cursor:
                problems.append(f"a session's cursor goes back: {newest}; then {operation}")
            if operation.kind == "read" and (longest is None or operation.length >= longest.length):
                longest = operation
            if operation.cursor is not None and (newest is None or operation.cursor >= newest.cursor):
                newest = operation
    return problems[:at_most]


# MARK: Streams

def check_events(final, begin, events, at_most=5):
    """A stream of events, over all connections: exactly the entries after the first `begin`, each once, in order, up
    to the end. `events` are pairs of text and cursor."""
    texts = [text for text, _ in events]
    expected = list(final[begin:])
    problems = []
    seen = {}
    for index, text in enumerate(texts):
        if text in seen:
            problems.append(f"an event arrived twice: {text}, as number {seen[text] + 1} and number {index + 1}")
        seen[text] = index
    missing = [text for text in expected if text not in seen]
    if missing:
        after = expected.index(missing[0])
        problems.append(f"{len(missing)} of {len(expected)} events did not arrive, first {missing[0]}, after "
                        f"{expected[after - 1] if after else 'the beginning'}")
    wrong = [text for text in texts if text not in set(expected)]
    if wrong:
        problems.append(f"an event arrived that is not in the final state: {wrong[0]}")
    if not problems and texts != expected:
        index = next(each for each in range(len(texts)) if texts[each] != expected[each])
        problems.append(f"events in another order: number {index + 1} is {texts[index]}, not {expected[index]}")
    problems += check_rising([cursor for _, cursor in events], strictly=True)
    return problems[:at_most]


def check_live(final, results, at_most=5):
    """The results of a live query, over all connections: each is a beginning of the final list, none is shorter than
    one before, and the last one is the final state. `results` are readings."""
    problems = []
    for result in results:
        problems += check_prefix(final, result)
    for before, after in zip(results, results[1:]):
        if after.length < before.length:
            problems.append(f"a live query goes back: {before}; then {after}")
    if not results or results[-1].length != len(final):
        problems.append(f"a live query does not end with the final state: "
                        f"{results[-1] if results else 'no result'}; there are {len(final)} entries")
    problems += check_rising([each.cursor for each in results], strictly=False)
    return problems[:at_most]


def check_rising(cursors, strictly):
    known = [each for each in cursors if each is not None]
    return [f"a stream's cursors go back: {before}, then {after}" for before, after in zip(known, known[1:])
            if after < before or (strictly and after == before)]


# MARK: Registers

def check_register(operations, initial=None):
    """Whether there is an order of one register's operations in which each reading finds the last value written, and
    that is also that of the clock."""
    written = {each.value for each in operations if each.kind == "set"}
    read = {each.value for each in operations if each.kind == "get" and each.known}
    refused = {each.value for each in operations if each.kind == "set" and each.outcome == "refused"}
    for operation in operations:
        if operation.kind != "get" or not operation.known:
            continue
        if operation.value != initial and operation.value not in written:
            return [f"from nowhere: {operation}, which nobody has written"]
        if operation.value in refused:
            return [f"refused, and carried out all the same: {operation}"]
    considered = [
        each for each in operations
        if each.known and (each.kind == "set" or each.promise == "newest")
        # A writing without an answer that nobody has seen may as well never have happened.
        or each.kind == "set" and each.outcome == "unknown" and each.value in read]
    if is_linearizable(considered, initial):
        return check_register_cursors(operations)
    smallest = smallest_wrong(considered, initial)
    return ["no order explains these: " + "; ".join(map(str, smallest))]


def smallest_wrong(operations, initial):
    """Fewer operations that are wrong together. Readings are left out one by one, and then what was written and not
    read, as long as nothing explains the others. (Without a writing that is read, a reading would be from nowhere.)"""
    kept = sorted(operations, key=lambda each: each.start)
    for operation in sorted(kept, key=lambda each: each.kind):
        fewer = [each for each in kept if each is not operation]
        if operation.kind == "set" and any(each.kind == "get" and each.value == operation.value for each in fewer):
            continue
        if not is_linearizable(fewer, initial):
            kept = fewer
    return kept


def is_linearizable(operations, initial=None):
    infinity = float("inf")
    operations = sorted(operations, key=lambda each: each.start)
    ends = [each.end if each.known else infinity for each in operations]
    required = sum(1 << index for index, each in enumerate(operations) if each.known)
    seen, stack = set(), [(0, initial)]
    while stack:
        done, value = stack.pop()
        if done & required == required:
            return True
        if (done, value) in seen:
            continue
        seen.add((done, value))
        # Only what began before the first of the others ended can be next.
        bound = min(ends[index] for index in range(len(operations)) if not done >> index & 1)
        for index, operation in enumerate(operations):
            if operation.start > bound:
                break
            if done >> index & 1:
                continue
            if operation.kind == "set":
                stack.append((done | 1 << index, operation.value))
            elif operation.value == value:
                stack.append((done | 1 << index, value))
    return False


def check_register_cursors(operations):
    """A reading is the state at its cursor, and cursors of what was written follow the clock."""
    written = sorted((each for each in operations if each.kind == "set" and each.known and each.cursor is not None),
                     key=lambda each: each.cursor)
    by_value = {each.value: each for each in written}
    problems = []
    for reading in operations:
        if reading.kind != "get" or not reading.known or reading.cursor is None:
            continue
        source = by_value.get(reading.value)
        if source and source.cursor > reading.cursor:
            problems.append(f"a reading has what is later than its cursor: {reading}, from {source}")
        missed = next((each for each in written
                       if source and source.cursor < each.cursor <= reading.cursor), None)
        if missed:
            problems.append(f"a reading lacks what is not later than its cursor: {reading}, without {missed}")
    return problems


# MARK: Breaking histories on purpose, which a check must notice

def swapped(operations, random):
    """Two answers of additions, one of which ended before the other began, changed places."""
    additions = [each for each in operations if each.kind == "append" and each.known and each.cursor is not None]
    pairs = [(one, other) for one in additions for other in additions if one.end < other.start]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    return [replace(each, cursor={one.value: other.cursor, other.value: one.cursor}.get(each.value, each.cursor))
            if each.kind == "append" else each for each in operations]


def made_stale(final, operations, random):
    """A reading that asked for the newest state lacks an addition that was answered before it began."""
    ends = {each.value: each.end for each in operations if each.kind == "append" and each.known}
    candidates = []
    for index, each in enumerate(operations):
        if each.kind == "read" and each.known and each.promise == "newest" and each.length:
            text = final[each.length - 1]
            if text in ends and ends[text] < each.start:
                candidates.append(index)
    if not candidates:
        return None
    index = random.choice(candidates)
    reading = operations[index]
    length = reading.length - 1
    # Without its cursor, so that it is the clock that tells.
    stale = replace(reading, length=length, tail=tuple(final[max(0, length - len(reading.tail)):length]), cursor=None)
    return operations[:index] + [stale] + operations[index + 1:]


def without_one(events, random):
    index = random.randrange(len(events))
    return events[:index] + events[index + 1:]
