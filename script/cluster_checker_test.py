"""python3 -m unittest script/cluster_checker_test.py: right and wrong histories for script/cluster_checker.py."""

import itertools
import os
import random
import sys
import unittest
from dataclasses import replace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cluster_checker as checker  # noqa: E402
from cluster_checker import Operation  # noqa: E402


def add(text, start, end=None, cursor=None, outcome=None, client="a"):
    return Operation("append", "list", client, start, end, outcome or ("ok" if end is not None else "unknown"), text,
                     cursor=cursor)


def read(entries, start, end, cursor=None, at_least=None, promise="newest", client="r", last=None):
    tail = tuple(entries if last is None else entries[len(entries) - last:])
    return Operation("read", "list", client, start, end, length=len(entries), tail=tail, cursor=cursor,
                     at_least=at_least, promise=promise)


def write(value, start, end=None, cursor=None, outcome=None):
    return Operation("set", "register", "a", start, end, outcome or ("ok" if end is not None else "unknown"), value,
                     cursor=cursor)


def get(value, start, end, cursor=None, promise="newest"):
    return Operation("get", "register", "r", start, end, value=value, cursor=cursor, promise=promise)


class ListTests(unittest.TestCase):
    def right(self, final, *operations):
        self.assertEqual(checker.check_list(list(final), list(operations)), [])

    def wrong(self, what, final, *operations):
        problems = checker.check_list(list(final), list(operations))
        self.assertTrue(problems, f"not noticed: {what}")
        self.assertIn(what, problems[0])

    def test_one_after_the_other(self):
        self.right("ab", add("a", 0, 1, 3), read("a", 1, 2, 4), add("b", 2, 3, 5), read("ab", 3, 4, 6, at_least=5))

    def test_additions_at_the_same_time_may_take_effect_in_either_order(self):
        self.right("ba", add("a", 0, 3), add("b", 1, 2))
        self.right("ab", add("a", 0, 3), add("b", 1, 2))

    def test_a_reading_may_see_what_has_no_answer_yet(self):
        self.right("a", add("a", 0, 9), read("a", 1, 2))

    def test_without_an_answer_both_outcomes_are_right(self):
        self.right("b", add("a", 0), add("b", 1, 2))
        self.right("ba", add("a", 0), add("b", 1, 2))

    def test_refused_and_not_carried_out(self):
        self.right("b", add("a", 0, 1, outcome="refused"), add("b", 1, 2))

    def test_a_reading_that_asked_for_nothing_may_be_late(self):
        self.right("a", add("a", 0, 1), read("", 2, 3, promise="none"))

    def test_readings_at_the_same_place_are_put_in_order(self):
        self.right("a", read("", 0, 1), read("", 1, 2), add("a", 2, 3), read("a", 5, 6), read("a", 3, 4))

    def test_the_last_entries_are_enough(self):
        self.right("abc", add("a", 0, 1), add("b", 1, 2), add("c", 2, 3), read("abc", 3, 4, last=1),
                   read("abc", 3, 4, last=0))

    def test_lost(self):
        self.wrong("lost", "b", add("a", 0, 1), add("b", 1, 2))

    def test_carried_out_twice(self):
        self.wrong("twice", "aba", add("a", 0, 1), add("b", 1, 2))

    def test_carried_out_twice_without_an_answer(self):
        self.wrong("twice", "aa", add("a", 0))

    def test_from_nowhere(self):
        self.wrong("from nowhere", "ab", add("a", 0, 1))

    def test_refused_and_carried_out(self):
        self.wrong("refused", "a", add("a", 0, 1, outcome="refused"))

    def test_gone(self):
        self.wrong("gone", "a", add("a", 0, 1), add("b", 0), read("ab", 1, 2))

    def test_read_in_another_order(self):
        self.wrong("another order", "ab", add("a", 0, 5), add("b", 0, 5), read("ba", 1, 2))
        self.wrong("another order", "ab", add("a", 0, 5), add("b", 0, 5), read("b", 1, 2))
        self.wrong("another order", "abc", add("a", 0, 5), add("b", 0, 5), add("c", 0, 5),
                   replace(read("abc", 1, 2), tail=("b", "b", "c")))

    def test_stale(self):
        self.wrong("against the clock", "a", add("a", 0, 1), read("", 2, 3))

    def test_one_sees_it_and_a_later_one_does_not(self):
        self.wrong("against the clock", "a", add("a", 0, 9), read("a", 1, 2), read("", 3, 4))

    def test_additions_against_the_clock(self):
        self.wrong("against the clock", "ba", add("a", 0, 1), add("b", 2, 3))

    def test_an_addition_against_the_clock_by_way_of_others(self):
        # b began after a had ended; c overlaps with both.
        self.wrong("against the clock", "cba", add("a", 0, 2), add("b", 3, 4), add("c", 1, 4))

    def test_seen_before_it_was_asked_for(self):
        self.wrong("before it was asked for", "a", read("a", 0, 1, promise="none"), add("a", 2, 3))

    def test_without_an_answer_not_before_it_was_asked_for(self):
        self.wrong("against the clock", "ab", add("b", 0, 1), add("a", 2))

    def test_cursors_in_another_order(self):
        self.wrong("cursors in another order", "ab", add("a", 0, 5, 8), add("b", 0, 5, 7))

    def test_the_same_cursor_twice(self):
        self.wrong("cursors in another order", "ab", add("a", 0, 5, 7), add("b", 0, 5, 7))

    def test_a_reading_with_what_is_later_than_its_cursor(self):
        self.wrong("later than its cursor", "a", add("a", 0, 5, 7), read("a", 1, 2, cursor=6))

    def test_a_reading_without_what_is_not_later_than_its_cursor(self):
        self.wrong("lacks", "a", add("a", 0, 5, 7), read("", 1, 2, cursor=7))

    def test_older_than_asked_for(self):
        self.wrong("older than asked for", "a", add("a", 0, 5, 7), read("", 1, 2, cursor=5, at_least=6))

    def test_the_check_is_exact(self):
        # Against all orders, for small histories at random.
        generator = random.Random(1)
        wrong = 0
        for _ in range(2000):
            texts = "abcd"[:generator.randint(1, 4)]
            final = list(texts)
            operations = []
            for text in texts:
                start = generator.randint(0, 9)
                operations.append(add(text, start, generator.choice([None, start + generator.randint(1, 9)])))
            for _ in range(generator.randint(0, 3)):
                start = generator.randint(0, 12)
                operations.append(read(texts[:generator.randint(0, len(texts))], start,
                                       start + generator.randint(1, 5)))
            expected = any(
                explains(order, final) for order in itertools.permutations(operations))
            self.assertEqual(not checker.check_list(final, operations), expected, list(map(str, operations)))
            wrong += not expected
        self.assertTrue(200 < wrong < 1800, wrong)


def explains(order, final):
    entries = []
    for index, operation in enumerate(order):
        if any(later.end is not None and later.end < operation.start for later in order[index + 1:]):
            return False
        if operation.kind == "append":
            entries.append(operation.value)
        elif (operation.length, operation.tail) != (len(entries), tuple(entries)):
            return False
    return entries == final


class SessionTests(unittest.TestCase):
    def test_right(self):
        self.assertEqual(checker.check_sessions([
            read("a", 0, 1, 3, promise="session"), read("a", 1, 2, 3, promise="session"),
            read("ab", 2, 3, 5, promise="session"), read("a", 2, 3, 4, promise="session", client="other")]), [])

    def test_shorter_than_before(self):
        problems = checker.check_sessions([
            read("ab", 0, 1, 5, promise="session"), read("a", 1, 2, 6, promise="session")])
        self.assertIn("a session goes back", problems[0])

    def test_its_own_addition_is_missing(self):
        problems = checker.check_sessions([
            add("a", 0, 1, 5), replace(read("", 1, 2, 4, promise="session"), client="a")])
        self.assertIn("a session's cursor goes back", problems[0])

    def test_without_the_promise_it_may(self):
        self.assertEqual(checker.check_sessions([
            read("ab", 0, 1, 5, promise="none"), read("a", 1, 2, 4, promise="none")]), [])


class StreamTests(unittest.TestCase):
    def test_right(self):
        self.assertEqual(checker.check_events("abc", 1, [("b", 5), ("c", 7)]), [])

    def wrong(self, what, events, begin=0):
        problems = checker.check_events("abc", begin, events)
        self.assertTrue(problems and what in problems[0], problems)

    def test_gap(self):
        self.wrong("1 of 3 events did not arrive, first b, after a", [("a", 3), ("c", 7)])

    def test_nothing_at_the_end(self):
        self.wrong("did not arrive, first c", [("a", 3), ("b", 5)])

    def test_double(self):
        self.wrong("arrived twice: b", [("a", 3), ("b", 5), ("b", 5), ("c", 7)])

    def test_not_in_the_final_state(self):
        self.wrong("not in the final state: x", [("a", 3), ("x", 4), ("b", 5), ("c", 7)])

    def test_before_its_beginning(self):
        self.wrong("not in the final state: a", [("a", 3), ("b", 5), ("c", 7)], begin=1)

    def test_another_order(self):
        self.wrong("another order", [("b", 3), ("a", 5), ("c", 7)])

    def test_cursors_back(self):
        self.wrong("cursors go back", [("a", 5), ("b", 3), ("c", 7)])

    def test_live(self):
        results = [read("", 0, 0, 1), read("ab", 1, 1, 5, last=1), read("abc", 2, 2, 7)]
        self.assertEqual(checker.check_live("abc", results), [])
        self.assertIn("goes back", checker.check_live("abc", [results[1], results[0], results[2]])[0])
        self.assertIn("does not end", checker.check_live("abc", results[:2])[0])
        self.assertIn("does not end", checker.check_live("abc", [])[0])
        self.assertIn("another order", checker.check_live("acb", results)[0])


class RegisterTests(unittest.TestCase):
    def right(self, *operations):
        self.assertEqual(checker.check_register(list(operations)), [])

    def wrong(self, what, *operations):
        problems = checker.check_register(list(operations))
        self.assertTrue(problems, f"not noticed: {what}")
        self.assertIn(what, problems[0])

    def test_one_after_the_other(self):
        self.right(get(None, 0, 1), write("x", 1, 2, 3), get("x", 2, 3, 3), write("y", 3, 4, 5), get("y", 4, 5, 5))

    def test_while_it_is_written_both_are_right(self):
        self.right(write("x", 0, 1), write("y", 2, 9), get("x", 3, 4), get("y", 5, 6))

    def test_what_has_no_answer_may_take_effect_late_or_never(self):
        self.right(write("x", 0), get(None, 1, 2), write("y", 3, 4), get("y", 5, 6), get("x", 7, 8))
        self.right(write("x", 0), get(None, 1, 2))

    def test_stale(self):
        self.wrong("no order explains", write("x", 0, 1), write("y", 2, 3), get("x", 4, 5))

    def test_back_and_forth(self):
        self.wrong("no order explains", write("x", 0, 1), write("y", 2, 9), get("y", 3, 4), get("x", 5, 6))

    def test_lost(self):
        self.wrong("no order explains", write("x", 0, 1), get(None, 2, 3))

    def test_two_readers_disagree(self):
        # Each of them is right for itself.
        self.wrong("no order explains", write("x", 0, 9), write("y", 0, 9), get("x", 1, 2), get("y", 3, 4),
                   get("x", 5, 6))

    def test_carried_out_twice(self):
        self.wrong("no order explains", write("x", 0, 1), write("y", 2, 3), get("y", 4, 5), get("x", 6, 7))

    def test_from_nowhere(self):
        self.wrong("from nowhere", get("x", 0, 1))

    def test_refused_and_carried_out(self):
        self.wrong("refused", write("x", 0, 1, outcome="refused"), get("x", 2, 3))

    def test_later_than_its_cursor(self):
        self.wrong("later than its cursor", write("x", 0, 5, 7), get("x", 1, 2, 6))

    def test_lacks_what_is_not_later_than_its_cursor(self):
        self.wrong("lacks", write("x", 0, 1, 3), write("y", 2, 9, 5), get("x", 3, 4, 5))

    def test_the_explanation_is_small(self):
        operations = [write("x", 0, 1), write("y", 2, 3), get("x", 4, 5)]
        operations += [write(str(each), 10 + each, 10.5 + each) for each in range(20)]
        operations += [get(str(each), 10.6 + each, 10.8 + each) for each in range(20)]
        problems = checker.check_register(operations)
        self.assertEqual(problems[0].count(";"), 2, problems)

    def test_many_at_the_same_time(self):
        # What was never answered and is read once is what takes time.
        operations = [write(f"u{each}", each) for each in range(60)]
        operations += [write(f"w{each}", 2 * each, 2 * each + 3) for each in range(60)]
        operations += [get(f"w{each}", 2 * each + 3, 2 * each + 3.1) for each in range(0, 60, 7)]
        operations += [get(f"u{each}", 300 + each, 300.5 + each) for each in range(0, 40, 8)]
        self.right(*operations)


class BreakingTests(unittest.TestCase):
    """What --prove does to a right history is noticed."""

    def setUp(self):
        self.final = [f"e{each}" for each in range(20)]
        self.operations = []
        for each, text in enumerate(self.final):
            self.operations.append(add(text, 10 * each, 10 * each + 3, 2 * each + 1))
            self.operations.append(read(self.final[:each + 1], 10 * each + 4, 10 * each + 6, 2 * each + 1,
                                        last=min(each + 1, 5)))
        self.assertEqual(checker.check_list(self.final, self.operations), [])

    def test_all(self):
        for seed in range(20):
            generator = random.Random(seed)
            self.assertIn("cursors", checker.check_list(
                self.final, checker.swapped(self.operations, generator))[0])
            self.assertIn("against the clock", checker.check_list(
                self.final, checker.made_stale(self.final, self.operations, generator))[0])
            events = [(text, index) for index, text in enumerate(self.final)]
            self.assertTrue(checker.check_events(self.final, 0, checker.without_one(events, generator)))


if __name__ == "__main__":
    unittest.main()
