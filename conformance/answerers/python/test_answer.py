"""The worked examples of docs/spec.md, and its corners. Run: python3 -m unittest (in this folder)."""

import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import answer as answerer  # noqa: E402

NOW = 1795996800  # 2026-11-30T00:00:00Z
MAX = 9007199254740991


def ask_line(line):
    return answerer.answer(line.encode("utf-8") if isinstance(line, str) else line)


def ask(**question):
    return ask_line(json.dumps(question))


def parse(*lines, **more):
    return ask(op="parse", lines=list(lines), **dict({"now": NOW}, **more))


def delay(*lines, **more):
    result = parse(*lines, **more)
    return (result["seconds"], result["anomalies"]) if result.get("kind") == "delay" else result


def date(*lines, **more):
    result = parse(*lines, **more)
    if result.get("kind") != "date":
        return result
    return result["unix"], result["delay"], result["anomalies"]


def kind(*lines, **more):
    return parse(*lines, **more).get("kind")


def session(profile, events, **more):
    return ask(op="session", profile=profile, events=events, **more)


def refusal(status=503, retry_after=None, took_ms=0, **more):
    headers = [] if retry_after is None else [["Retry-After", retry_after]]
    return dict({"took_ms": took_ms, "status": status, "headers": headers}, **more)


def waits(result):
    return [(step["wait_ms"], step["applied"]) for step in result["steps"] if step["decision"] == "wait"]


def reason(result):
    return result["steps"][-1].get("reason")


OK = {"took_ms": 0, "status": 200}
IMF = "Mon, 30 Nov 2026 00:02:00 GMT"


class PublishedExamples(unittest.TestCase):
    """Section 11, letter by letter."""

    def check(self, question, expected):
        self.assertEqual(answerer.answer_lines([question.encode()]), expected.encode() + b"\n")

    def test_parse(self):
        self.check(
            '{"op":"parse","lines":["Mon, 30 Nov 2026 00:02:00 GMT"],"now":1795996800,'
            '"date":"Mon, 30 Nov 2026 00:00:00 GMT","age":null,"dates":"honour","lenient_fractions":false}',
            '{"kind":"date","unix":1795996920,"delay":120,"anomalies":[]}',
        )
        self.check('{"op":"parse","lines":[],"now":0}', '{"kind":"absent"}')
        self.check(
            '{"op":"parse","lines":["soon"],"now":0}',
            '{"kind":"malformed","reason":"not_a_delay_or_date"}',
        )
        self.check(
            '{"op":"parse","lines":["120"],"now":0}', '{"kind":"delay","seconds":120,"anomalies":[]}'
        )

    def test_session(self):
        self.check(
            '{"op":"session","profile":"muse","policy":{"budget_ms":120000},'
            '"request":{"method":"POST","vouched":true,"body":"replayable"},"now":1795996800,"random":[],'
            '"events":[{"took_ms":250,"status":503,"headers":[["Retry-After","60"]],"body":null},'
            '{"took_ms":10,"status":200}]}',
            '{"outcome":"success","attempts":2,"waited_ms":60000,"ended_at_ms":60260,'
            '"steps":[{"at_ms":250,"decision":"wait","wait_ms":60000,"hint_ms":60000,"applied":[]},'
            '{"at_ms":60260,"decision":"done"}]}',
        )

    def test_windows(self):
        self.check(
            '{"op":"windows","join":"latest","capacity":1024,"ceiling_ms":300000,'
            '"events":[{"at_ms":5,"record":"a","not_before_ms":30000},{"at_ms":10,"ask":"a"},'
            '{"at_ms":20,"success":"a","started_ms":0},{"at_ms":40,"ask":"a"},'
            '{"at_ms":50,"success":"a","started_ms":30},{"at_ms":60,"ask":"a"}]}',
            '{"answers":[{"at_ms":10,"not_before_ms":30000},{"at_ms":40,"not_before_ms":30000},'
            '{"at_ms":60,"not_before_ms":null}],"size":0}',
        )


class Delays(unittest.TestCase):
    def test_p1_digits_only(self):
        self.assertEqual(delay("007"), (7, []))
        self.assertEqual(delay("0"), (0, []))
        for line in ["+1", "-1", "1.0", "1e2", "1_0", "1s", '"1"', "1;a=b", "\xb2", "1 2", "0x1"]:
            self.assertEqual(kind(line), "malformed", line)

    def test_p2_blanks(self):
        self.assertEqual(delay(" \t5\t "), (5, []))
        for line in ["", " \t", "5\r", "\n5", "5\x0b", "\xa05", "5\x00"]:
            self.assertEqual(kind(line), "malformed", repr(line))

    def test_p3_large_numbers(self):
        self.assertEqual(delay(str(MAX)), (MAX, []))
        self.assertEqual(delay("0" * 5000 + str(MAX)), (MAX, []))
        self.assertEqual(delay(str(MAX + 1)), (MAX, ["saturated"]))
        self.assertEqual(delay("9" * 100000), (MAX, ["saturated"]))

    def test_p7_folded(self):
        self.assertEqual(delay("1, 3"), (3, ["folded"]))
        self.assertEqual(delay("3,3"), (3, ["folded"]))
        self.assertEqual(delay("1 \t" + " " * 500 + ",2"), (2, ["folded"]))
        self.assertEqual(delay("1,%d" % (MAX + 1)), (MAX, ["folded", "saturated"]))
        for line in ["1,", ",1", ",", "1,,2", "1,x", "1.5,2", IMF + ", " + IMF]:
            self.assertEqual(kind(line, lenient_fractions=True), "malformed", line)

    def test_p7_several_lines(self):
        self.assertEqual(delay("5", "05"), (5, []))
        self.assertEqual(delay("5", "7", "6"), (7, ["repeated"]))
        self.assertEqual(delay("x", "5"), (5, ["ignored_line"]))
        self.assertEqual(delay("5, 5", "5"), (5, ["folded"]))
        self.assertEqual(delay("5", "5, 5"), (5, []))
        self.assertEqual(delay(str(MAX), "9" * 20), (MAX, []))
        self.assertEqual(delay("120", IMF), (120, ["repeated"]))
        self.assertEqual(date(IMF, "120"), (NOW + 120, 120, ["repeated"]))
        self.assertEqual(parse(" ", "x")["reason"], "empty")

    def test_p8_bounds(self):
        self.assertEqual(delay(*["1"] * 8 + ["9"]), (1, []))
        self.assertEqual(kind(*["x"] * 8 + ["9"]), "malformed")
        self.assertEqual(kind(*[IMF] * 8 + ["9"], dates="treat_as_absent"), "absent")
        self.assertEqual(delay("1" + "0" * 125 + ".5", lenient_fractions=True), (MAX, ["fraction", "saturated"]))
        self.assertEqual(kind("0" * 127 + ".5", lenient_fractions=True), "malformed")

    def test_p9_dates_are_a_choice(self):
        self.assertEqual(kind(IMF, dates="treat_as_absent"), "absent")
        self.assertEqual(delay(IMF, "5", dates="treat_as_absent"), (5, []))
        self.assertEqual(kind("Mon, 31 Nov 2026 00:00:00 GMT", dates="treat_as_absent"), "malformed")

    def test_p10_fractions(self):
        self.assertEqual(kind("2.0"), "malformed")
        for line, seconds in [("2.0", 2), ("2.000000001", 3), ("0.5", 1), ("0.000", 0)]:
            self.assertEqual(delay(line, lenient_fractions=True), (seconds, ["fraction"]))
        self.assertEqual(delay("%d.1" % MAX, lenient_fractions=True), (MAX, ["fraction", "saturated"]))
        for line in ["2.", ".5", "2.0000000001", "1.2.3", "-1.0"]:
            self.assertEqual(kind(line, lenient_fractions=True), "malformed", line)


class Dates(unittest.TestCase):
    def test_p4_three_forms(self):
        for line in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994",
        ]:
            self.assertEqual(date(line), (784111777, 0, ["past"]), line)

    def test_p4_exactly_the_grammar(self):
        for line in [
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun,  06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT\n",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994",
            "Sun Nov  6 08:49:37 1994 GMT",
            "Foo, 06 Nov 1994 08:49:37 GMT",
            "Wed, 30 Feb 2028 00:00:00 GMT",
            "Tue, 29 Feb 2100 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 12:60:00 GMT",
            "Sun, 06 Nov 1994 12:00:61 GMT",
            "Sun, 00 Nov 1994 12:00:00 GMT",
            "Sun Nov  0 08:49:37 1994",
        ]:
            self.assertEqual(kind(line), "malformed", line)

    def test_p4_calendar(self):
        self.assertEqual(date("Sat, 01 Jan 0000 00:00:00 GMT"), (-62167219200, 0, ["past"]))
        self.assertEqual(date("Tue, 29 Feb 0000 00:00:00 GMT")[2], ["past"])
        self.assertEqual(date("Fri, 31 Dec 9999 23:59:60 GMT")[0], 253402300800)
        self.assertEqual(date("Wed, 31 Dec 1969 23:59:59 GMT", now=0), (-1, 0, ["past"]))
        for day in range(-1000000, 3000000, 9973):
            self.assertEqual(
                answerer.days_from_calendar(*answerer.calendar_from_days(day)), day
            )

    def test_p4_flags(self):
        self.assertEqual(date("Tue, 30 Nov 2026 00:02:00 GMT"), (NOW + 120, 120, ["wrong_weekday"]))
        self.assertEqual(date("Mon, 30 Nov 2026 00:01:60 GMT"), (NOW + 120, 120, ["leap_second"]))
        # The weekday is that of the date as written: Sunday the 29th, although the instant is on Monday.
        self.assertEqual(date("Sun, 29 Nov 2026 23:59:60 GMT"), (NOW, 0, ["leap_second"]))

    def test_p5_worked_examples(self):
        for written, year in [
            ("06-Nov-94 08:49:37", 1994),
            ("06-Nov-69 08:49:37", 2069),
            ("06-Nov-76 08:49:37", 2076),
            ("06-Dec-76 08:49:37", 1976),
            ("06-Nov-77 08:49:37", 1977),
            ("30-Nov-76 08:49:37", 1976),
            ("30-Nov-76 00:00:00", 2076),
            ("29-Feb-00 08:49:37", 2000),
            ("29-Feb-01 08:49:37", None),
        ]:
            result = parse("Monday, %s GMT" % written)
            if year is None:
                self.assertEqual(result["kind"], "malformed")
            else:
                found = answerer.calendar_from_days(result["unix"] // 86400)[0]
                self.assertEqual(found, year, written)

    def test_p5_edges_of_the_calendar(self):
        leap_day = 1709164800  # 2024-02-29; the limit lies between 28 February and 1 March 2074
        self.assertEqual(date("Wednesday, 28-Feb-74 23:59:59 GMT", now=leap_day)[0], 3287087999)
        self.assertEqual(date("Thursday, 01-Mar-74 00:00:00 GMT", now=leap_day)[0], 131328000)
        self.assertEqual(kind("Monday, 01-Jan-50 00:00:00 GMT", now=-(10**30)), "malformed")
        self.assertEqual(date("Monday, 01-Jan-99 00:00:00 GMT", now=10**30)[0], 253370764800)

    def test_p6_reference(self):
        reference = "Mon, 30 Nov 2026 00:01:00 GMT"
        self.assertEqual(date(IMF)[1], 120)
        self.assertEqual(date(IMF, date=" " + reference + "\t")[1], 60)
        for age, seconds in [("0", 60), (" 00 ", 60), ("", 60), ("+1", 60), ("1, 2", 60), ("1", 120)]:
            self.assertEqual(date(IMF, date=reference, age=age)[1], seconds, age)
        self.assertEqual(date(IMF, date="never", age="0")[1], 120)
        self.assertEqual(date(IMF, date=IMF), (NOW + 120, 0, []))
        self.assertEqual(date(IMF, date="Mon, 30 Nov 2026 00:02:01 GMT"), (NOW + 120, 0, ["past"]))

    def test_p6_skew(self):
        self.assertEqual(date(IMF, date="Tue, 01 Dec 2026 00:00:00 GMT")[2], ["past"])
        self.assertEqual(date(IMF, date="Tue, 01 Dec 2026 00:00:01 GMT")[2], ["date_skew", "past"])
        self.assertEqual(date(IMF, date="Sun, 29 Nov 2026 00:00:00 GMT")[2], [])
        self.assertEqual(date(IMF, date="Sat, 28 Nov 2026 23:59:59 GMT")[2], ["date_skew"])
        self.assertEqual(date(IMF, date="Sat, 28 Nov 2026 23:59:59 GMT", age="1")[2], [])

    def test_p7_dates(self):
        late = "Mon, 30 Nov 2026 00:03:00 GMT"
        self.assertEqual(date(IMF, late), (NOW + 180, 180, ["repeated"]))
        self.assertEqual(date(IMF, "Monday, 30-Nov-26 00:02:00 GMT"), (NOW + 120, 120, []))
        self.assertEqual(date(IMF, late, now=NOW + 999), (NOW + 120, 0, ["past", "repeated"]))


class Sessions(unittest.TestCase):
    def test_b2_two_minutes(self):
        result = session("muse", [refusal(retry_after="60")] * 4)
        self.assertEqual([step["at_ms"] for step in result["steps"]], [0, 60000, 120000])
        self.assertEqual((result["waited_ms"], reason(result)), (120000, "budget_exhausted"))
        self.assertEqual(result["outcome"], "refused")
        result = session("muse", [refusal(retry_after="60", took_ms=1)] * 4)
        self.assertEqual(result["attempts"], 2)

    def test_e2_each_refusal_is_taken_afresh(self):
        result = session("muse", [refusal(retry_after="90"), refusal(retry_after="60"), OK])
        self.assertEqual(waits(result), [(60000, ["ceiling"]), (60000, [])])

    def test_b1_budget_zero(self):
        for mode in ["give_up", "truncate_then_try"]:
            policy = {"budget_ms": 0, "floor_ms": 0, "backoff": {"kind": "constant", "ms": 0}, "over_budget": mode}
            self.assertEqual(reason(session("muse", [refusal()], policy=policy)), "budget_exhausted")

    def test_b3_truncated_below_the_floor(self):
        policy = {"budget_ms": 1500, "over_budget": "truncate_then_try"}
        result = session("muse", [refusal(retry_after="1"), refusal(retry_after="1"), refusal()], policy=policy)
        self.assertEqual(waits(result), [(1000, []), (500, ["truncated"])])
        self.assertEqual(reason(result), "budget_exhausted")

    def test_c1_order(self):
        def why(policy=None, request=None, **event):
            event = dict({"took_ms": 0, "status": 507}, **event)
            base = {"retry_on": [{"status": 507, "needs": "hint"}]}
            result = session("muse", [event], policy=dict(base, **(policy or {})), request=request or {})
            return reason(result), result["outcome"]

        marked = {"body": {"transient": True}, "headers": [["retry-AFTER", "61"]]}
        once = {"body": "once"}
        self.assertEqual(why(status=404), ("not_retryable", "failed"))
        self.assertEqual(why({"enabled": False}), ("disabled", "refused"))
        self.assertEqual(why(), ("unmarked", "refused"))
        self.assertEqual(why(body={"transient": 1}, headers=marked["headers"]), ("unmarked", "refused"))
        self.assertEqual(why(body={"transient": True}), ("unmarked", "refused"))  # C2: both
        self.assertEqual(why({"max_attempts": 1}, once, **marked), ("not_replayable", "refused"))
        give_up = {"over_ceiling": "give_up", "budget_ms": 0}
        self.assertEqual(why(dict(give_up, max_attempts=1), **marked), ("attempts_exhausted", "refused"))
        self.assertEqual(why(give_up, **marked), ("hint_above_ceiling", "refused"))
        self.assertEqual(why({"budget_ms": 0}, **marked), ("budget_exhausted", "refused"))

    def test_c1_success_and_1xx(self):
        policy = {"retry_on": [{"status": 204}, {"status": 103}]}
        self.assertEqual(session("muse", [refusal(204)], policy=policy)["outcome"], "success")
        result = session("muse", [refusal(103, "5")], policy=policy)
        self.assertEqual(result["outcome"], "failed")
        self.assertEqual(result["steps"], [{"at_ms": 0, "decision": "stop", "reason": "not_retryable", "hint_ms": 5000}])

    def test_c4_replay(self):
        def goes_on(event, **request):
            return session("recommended", [dict({"took_ms": 0}, **event)], request=request)["outcome"] == "waiting"

        for event, row in [
            ({"status": 503}, [False, False, True]),
            ({"outcome": "not_sent"}, [False, True, True]),
            ({"outcome": "lost"}, [False, False, True]),
        ]:
            self.assertEqual(goes_on(event, method="GET", vouched=True, body="once"), row[0])
            self.assertEqual(goes_on(event, method="POST"), row[1])
            self.assertEqual(goes_on(event, method="get"), row[1])
            self.assertEqual(goes_on(event, method="PUT"), row[2])
            self.assertEqual(goes_on(event, method="POST", vouched=True), row[2])

    def test_c6_no_answer(self):
        lost = {"took_ms": 0, "outcome": "lost", "headers": [["Retry-After", "9"]]}
        result = session("recommended", [lost])
        self.assertEqual(waits(result), [(1000, ["backoff"])])
        self.assertIsNone(result["steps"][0]["hint_ms"])
        self.assertEqual(session("muse", [lost])["outcome"], "failed")

    def test_w2_ceiling_is_inclusive(self):
        self.assertEqual(waits(session("recommended", [refusal(retry_after="120")])), [(120000, [])])
        self.assertEqual(reason(session("recommended", [refusal(retry_after="121")])), "hint_above_ceiling")
        policy = {"backoff": {"kind": "constant", "ms": 120001}}
        result = session("recommended", [refusal()], policy=policy)
        self.assertEqual(waits(result), [(120000, ["backoff", "ceiling"])])

    def test_w4_w5_schedule(self):
        result = session("recommended", [refusal(retry_after="2")] * 4)
        self.assertEqual(waits(result), [(2000, []), (2000, []), (4000, ["backoff"]), (8000, ["backoff"])])
        policy = {"backoff": {"kind": "exponential", "base_ms": 5000, "factor": 9, "cap_ms": 3000}}
        result = session("recommended", [refusal()] * 2, policy=policy)
        self.assertEqual(waits(result), [(3000, ["backoff"])] * 2)

    def test_w6_malformed(self):
        self.assertEqual(waits(session("muse", [refusal(retry_after="x")])), [(5000, ["default_backoff"])])
        for ms, source in [(1500, "default_backoff"), (1000, "backoff")]:
            result = session("recommended", [refusal(retry_after="x")], policy={"default_backoff_ms": ms})
            self.assertEqual(waits(result), [(ms, [source])])
        result = session("recommended", [refusal()], policy={"default_backoff_ms": 1500})
        self.assertEqual(waits(result), [(1000, ["backoff"])])

    def test_jitter(self):
        result = session("recommended", [refusal(retry_after="10")] * 3, random=[1000, 0])
        self.assertEqual(waits(result), [(15000, ["jitter"]), (10000, []), (10000, [])])
        policy = {"jitter_per_mille": 1000, "budget_ms": 12000}
        result = session("alkhttp", [refusal(retry_after="7")], policy=policy, random=[1000])
        self.assertEqual(waits(result), [(12000, ["jitter"])])  # no cap, but the budget
        policy["jitter_cap_ms"] = 5
        result = session("alkhttp", [refusal(retry_after="7")], policy=policy, random=[1000])
        self.assertEqual(waits(result), [(7005, ["jitter"])])

    def test_dates_use_the_clock_of_the_session(self):
        result = session("alkhttp", [refusal(retry_after=IMF, took_ms=1999)], now=NOW + 100)
        self.assertEqual(result["steps"][0]["hint_ms"], 19000)
        self.assertIn("error", session("alkhttp", [refusal(retry_after=IMF)]))
        self.assertIn("error", session("muse", [OK, refusal(retry_after="Monday, 29-Feb-00 00:00:00 GMT")]))
        self.assertNotIn("error", session("muse", [refusal(retry_after="Monday, 29-Feb-01 00:00:00 GMT")]))

    def test_saturation(self):
        huge = {"ceiling_ms": 10**30, "budget_ms": 10**31}
        result = session("muse", [refusal(retry_after=str(MAX))], policy=huge)
        self.assertEqual(result["steps"][0]["hint_ms"], MAX)
        self.assertEqual((result["waited_ms"], result["ended_at_ms"]), (MAX, MAX))
        # The comparison is exact: the hint lies above the bound, the ceiling is the bound.
        result = session("muse", [refusal(retry_after=str(MAX))], policy=dict(huge, over_ceiling="give_up"))
        self.assertEqual(reason(result), "hint_above_ceiling")
        # Numbers beyond the bound are read as the bound, so floor and ceiling are equal here.
        self.assertNotIn("error", session("muse", [OK], policy={"floor_ms": 10**20, "ceiling_ms": 10**17}))

    def test_b8_contradictions(self):
        for policy in [
            {"floor_ms": 60001},
            {"backoff": {"kind": "exponential", "base_ms": 1, "factor": 0, "cap_ms": 1}},
            {"jitter_per_mille": 1001},
            {"max_attempts": 0},
            {"retry_on": [{"status": 503}, {"status": 503, "needs": "hint"}]},
            {"retry_on": [{"status": 600}]},
            {"floor_ms": 0},
        ]:
            self.assertIn("error", session("muse", [OK], policy=policy), policy)
        for policy in [
            {"floor_ms": 0, "max_attempts": 3},
            {"floor_ms": 0, "backoff": {"kind": "constant", "ms": 0}},
            {"retry_on": []},
        ]:
            self.assertNotIn("error", session("muse", [OK], policy=policy), policy)


class WindowStores(unittest.TestCase):
    def run_windows(self, events, **more):
        result = ask(op="windows", events=events, **more)
        return [found["not_before_ms"] for found in result["answers"]], result["size"]

    def test_empty(self):
        self.assertEqual(self.run_windows([]), ([], 0))

    def test_e3_joins(self):
        events = [
            {"at_ms": 0, "record": "a", "not_before_ms": 50},
            {"at_ms": 0, "record": "a", "not_before_ms": 30},
            {"at_ms": 29, "ask": "a"},
            {"at_ms": 30, "ask": "a"},
        ]
        self.assertEqual(self.run_windows(events), ([50, 50], 1))
        self.assertEqual(self.run_windows(events, join="earliest"), ([30, None], 0))

    def test_e4_ceiling_and_ignored_records(self):
        events = [
            {"at_ms": 10, "record": "a", "not_before_ms": 999},
            {"at_ms": 10, "record": "b", "not_before_ms": 10},
            {"at_ms": 10, "ask": "a"},
            {"at_ms": 10, "ask": "b"},
        ]
        self.assertEqual(self.run_windows(events, ceiling_ms=50), ([60, None], 1))
        self.assertEqual(self.run_windows(events, ceiling_ms=0), ([None, None], 0))

    def test_e6_a_record_that_lost_its_join_is_a_refusal(self):
        events = [
            {"at_ms": 0, "record": "a", "not_before_ms": 50},
            {"at_ms": 5, "record": "a", "not_before_ms": 30},
            {"at_ms": 6, "record": "a", "not_before_ms": 6},
            {"at_ms": 7, "success": "a", "started_ms": 5},
            {"at_ms": 7, "ask": "a"},
            {"at_ms": 7, "success": "a", "started_ms": 6},
            {"at_ms": 7, "ask": "a"},
        ]
        self.assertEqual(self.run_windows(events), ([50, None], 0))

    def test_e9_eviction(self):
        def record(at, key, not_before):
            return {"at_ms": at, "record": key, "not_before_ms": not_before}

        asks = [{"at_ms": 9, "ask": key} for key in "abc"]
        first = [record(0, "a", 50), record(0, "b", 60)]
        self.assertEqual(self.run_windows(first + [record(1, "c", 10)] + asks, capacity=2), ([None, 60, 10], 2))
        first = [record(0, "a", 50), record(0, "b", 50), record(1, "a", 20)]
        self.assertEqual(self.run_windows(first + [record(1, "c", 70)] + asks, capacity=2), ([50, None, 70], 2))
        first = [record(0, "a", 50), record(0, "b", 5)]  # expired entries go first
        self.assertEqual(self.run_windows(first + [record(5, "c", 70)] + asks, capacity=2), ([50, None, 70], 2))


class Questions(unittest.TestCase):
    def test_invalid(self):
        good = {"op": "parse", "lines": ["1"], "now": 0}
        for change in [
            {"op": "guess"}, {"op": 1}, {"lines": None}, {"lines": "1"}, {"lines": [1]}, {"lines": ["\u0100"]},
            {"lines": ["\ud800"]}, {"now": 1.0}, {"now": True}, {"now": None}, {"now": "1"}, {"date": 1},
            {"age": "\u20ac"}, {"dates": None}, {"dates": "honor"}, {"dates": ["honour"]}, {"lenient_fractions": 0},
        ]:
            self.assertIn("error", ask(**dict(good, **change)), change)
        for name in good:
            self.assertIn("error", ask(**{key: good[key] for key in good if key != name}))
        self.assertEqual(ask(id=None, date=None, age=None, **good)["seconds"], 1)

    def test_invalid_sessions(self):
        good = {"op": "session", "profile": "muse", "events": [OK]}
        for change in [
            {"profile": "Muse"}, {"events": []}, {"policy": None}, {"policy": {"fast": True}}, {"now": None},
            {"policy": {"backoff": {"kind": "constant", "ms": 1, "cap_ms": 1}}},
            {"policy": {"retry_on": [{"status": 503, "needs": None}]}},
            {"policy": {"enabled": 1}}, {"policy": {"floor_ms": -1}}, {"random": [1001]}, {"random": [True]},
            {"request": {"method": None}}, {"request": {"body": "twice"}}, {"events": [{"took_ms": 0}]},
            {"events": [{"status": 200}]}, {"events": [{"took_ms": 0, "status": 200, "outcome": "lost"}]},
            {"events": [OK, {"took_ms": 0, "status": 600}]}, {"events": [OK, {"took_ms": -1, "status": 200}]},
            {"events": [refusal(headers=[["a"]])]}, {"events": [refusal(headers={"a": "b"})]},
            {"events": [refusal(headers=[["Retry-After", "\u0100"]])]},
        ]:
            self.assertIn("error", ask(**dict(good, **change)), change)
        self.assertEqual(ask(extra=1, policy={"backoff": None, "max_attempts": None}, **good)["outcome"], "success")

    def test_invalid_windows(self):
        for more in [
            {}, {"events": None}, {"events": [{"at_ms": 0}]}, {"events": [{"at_ms": 0, "ask": 1}]},
            {"events": [{"at_ms": 0, "ask": "a", "record": "a", "not_before_ms": 1}]},
            {"events": [{"at_ms": 0, "record": "a"}]}, {"events": [{"at_ms": 1, "ask": "a"}, {"at_ms": 0, "ask": "a"}]},
            {"events": [], "capacity": 0}, {"events": [], "join": "max"}, {"events": [], "ceiling_ms": -1},
        ]:
            self.assertIn("error", ask(op="windows", **more), more)

    def test_lines(self):
        good = '{"op":"parse","lines":[],"now":0%s}'
        for line in [
            b"", b"  ", b"[]", b"null", b"{", b"\xff", b"{} {}", (good % ',"x":NaN').encode(), b"\xef\xbb\xbf{}",
            (good % ',"x":"\t"').encode(), (good % ',"x":"').encode() + b'\xed\xa0\x80"}',
            b"[" * 1000000, b'{"a":' * 100000, (good.replace(":0", ":0.0") % "").encode(),
        ]:
            self.assertIn("error", ask_line(line), line[:40])
        self.assertEqual(ask_line(good % ',"x":"\\ud800"' + "\r"), {"kind": "absent"})
        self.assertEqual(ask_line(good.replace(":0", ":-" + "9" * 1000000) % ""), {"kind": "absent"})


class Vectors(unittest.TestCase):
    def test_vectors(self):
        for file in ["parse.json", "session.json", "windows.json"]:
            path = os.path.join(HERE, "..", "..", "vectors", file)
            if not os.path.exists(path):
                self.skipTest("the vectors are not beside this folder")
            with open(path, encoding="utf-8") as source:
                vectors = json.load(source)["vectors"]
            for vector in vectors:
                found = ask(**vector)
                pinned = {name: found.get(name) for name in vector["expect"]}
                self.assertEqual(
                    json.dumps(pinned, sort_keys=True),  # as text, for 1 == True in Python
                    json.dumps(vector["expect"], sort_keys=True),
                    vector["id"],
                )


class Process(unittest.TestCase):
    def start(self):
        return subprocess.Popen(
            [sys.executable, os.path.join(HERE, "answer.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def test_one_question_at_a_time(self):
        process = self.start()
        for number in range(3):
            process.stdin.write(b'{"op":"parse","lines":["%d"],"now":0}\n' % number)
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["seconds"], number)
        rest, _ = process.communicate(b'\n{"op":"parse","lines":[],"now":0}')  # no line end
        self.assertEqual(rest, b'{"error":"a blank line"}\n{"kind":"absent"}\n')
        self.assertEqual(process.returncode, 0)

    def test_bulk(self):
        started = time.monotonic()
        line = json.dumps({"op": "session", "profile": "recommended", "events": [refusal(retry_after="2")] * 5})
        long_line = json.dumps({"op": "parse", "lines": ["7" * 5000000], "now": 0})
        answers, _ = self.start().communicate("\n".join([line] * 20000 + [long_line]).encode())
        self.assertEqual(answers.count(b"\n"), 20001)
        self.assertTrue(answers.endswith(b'{"kind":"delay","seconds":9007199254740991,"anomalies":["saturated"]}\n'))
        self.assertLess(time.monotonic() - started, 60)

    def test_no_input(self):
        self.assertEqual(self.start().communicate(b""), (b"", None))


if __name__ == "__main__":
    unittest.main()
