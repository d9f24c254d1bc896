#!/usr/bin/env python3
"""An answerer for the Comeback specification (docs/spec.md), written from that page alone.

It reads one JSON object per line from standard input, a question of section 11, and writes one JSON
object per line to standard output. Python 3.8 or later, standard library only.

The file follows the specification: reading `Retry-After` (section 3), policies and profiles (sections 5
to 8), the decision and the session (section 10), windows (section 7), and at the end the exchange of
lines. Ids in comments (P3, B2, ...) are those of the rules. All arithmetic is on integers, and none here
leaves the range of a signed 128-bit one.
"""

import heapq
import json
import re
import sys
from collections import namedtuple

MAX = 9007199254740991  # 2^53 - 1, where delays (P3) and the numbers of section 11 saturate


def saturate(number):
    return min(number, MAX)


# ------------------------------------------------------------------------------------------------------
# Checking questions (section 11)
#
# A check is a function that takes a decoded JSON value and returns what the program works with, or raises
# Invalid. Checks nest, and each level puts its name in front of the message.
# ------------------------------------------------------------------------------------------------------


class Invalid(Exception):
    """The line is not a valid question; the text says why."""


REQUIRED = object()


class Fields:
    """A JSON object whose members are taken out by name."""

    def __init__(self, value):
        if type(value) is not dict:
            raise Invalid("must be an object")
        self.members = value

    def __contains__(self, name):
        return name in self.members

    def take(self, name, check, default=REQUIRED):
        """The member `name`, checked; where it is missing, the default."""
        if name not in self.members:
            if default is REQUIRED:
                raise Invalid("%s is missing" % name)
            return default
        try:
            return check(self.members[name])
        except Invalid as error:
            raise Invalid("%s: %s" % (name, error)) from None

    def exactly_one_of(self, *names):
        present = [name for name in names if name in self.members]
        if len(present) != 1:
            raise Invalid("exactly one of %s must be there" % ", ".join(names))
        return present[0]

    def refuse_others(self, *known):
        """Inside `policy` an unknown field is an error; elsewhere it is ignored."""
        for name in self.members:
            if name not in known:
                raise Invalid("unknown field %s" % json.dumps(name[:40]))


def anything(value):
    return value


def boolean(value):
    if type(value) is not bool:
        raise Invalid("must be true or false")
    return value


def text(value):
    if type(value) is not str:
        raise Invalid("must be a string")
    return value


def octets(value):
    """Bytes, written as the code points 0 to 255. They stay a string of such characters."""
    if text(value) and max(value) > "\xff":
        raise Invalid("has a code point above 255 where bytes are meant")
    return value


def integer(minimum=None, maximum=None):
    def check(value):
        if type(value) is not int:  # neither true, nor 60.0, nor 6e1
            raise Invalid("must be an integer")
        if minimum is not None and value < minimum:
            raise Invalid("must be at least %d" % minimum)
        if maximum is not None and value > maximum:
            raise Invalid("must be at most %d" % maximum)
        return value

    return check


def one_of(*names):
    def check(value):
        if text(value) not in names:
            raise Invalid("must be one of %s" % ", ".join(names))
        return value

    return check


def list_of(check_member, at_least=0):
    def check(value):
        if type(value) is not list:
            raise Invalid("must be a list")
        if len(value) < at_least:
            raise Invalid("needs at least %d member(s)" % at_least)
        members = []
        for index, member in enumerate(value):
            try:
                members.append(check_member(member))
            except Invalid as error:
                raise Invalid("[%d]: %s" % (index, error)) from None
        return members

    return check


def or_null(check_value):
    return lambda value: None if value is None else check_value(value)


any_integer = integer()
natural = integer(0)

# ------------------------------------------------------------------------------------------------------
# Dates (P4, P5)
# ------------------------------------------------------------------------------------------------------

BLANKS = " \t"  # P2: SP and HTAB, no other byte

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def date_pattern(template):
    """A regular expression from the grammar of 3.1; [0-9], because \\d would match other digits too."""
    return re.compile(
        template.replace("LONG-DAY", "(?P<weekday>%s)" % "|".join(DAYS))
        .replace("DAY", "(?P<weekday>%s)" % "|".join(name[:3] for name in DAYS))
        .replace("MONTH", "(?P<month>%s)" % "|".join(MONTHS))
        .replace("DD", "(?P<day>[0-9]{2})")
        .replace("_D", "(?P<day>[0-9]{2}| [0-9])")
        .replace("YYYY", "(?P<year>[0-9]{4})")
        .replace("YY", "(?P<year>[0-9]{2})")
        .replace("TIME", "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})")
    )


DATE_FORMS = [
    date_pattern("DAY, DD MONTH YYYY TIME GMT"),  # IMF-fixdate
    date_pattern("LONG-DAY, DD-MONTH-YY TIME GMT"),  # RFC 850
    date_pattern("DAY MONTH _D TIME YYYY"),  # asctime
]


def is_leap_year(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def day_exists(year, month, day):
    length = [31, 29 if is_leap_year(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1 <= day <= length[month - 1]


# In the next two functions years begin in March, which puts the leap day at their end, and days are
# counted from 0000-03-01. Division rounds down, also for negative numbers.
DAYS_TO_1970 = 719468
DAYS_IN_400_YEARS = 146097


def days_from_calendar(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    if month < 3:
        year, month = year - 1, month + 12
    day_of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + day_of_year - DAYS_TO_1970


def calendar_from_days(days):
    """The inverse, for any integer."""
    era, day_of_era = divmod(days + DAYS_TO_1970, DAYS_IN_400_YEARS)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    year += 400 * era
    return (year, month + 3, day) if month < 10 else (year + 1, month - 9, day)


def full_year(two_digits, rest, now):
    """P5: the year that ends in `two_digits`, where `rest` is (month, day, hour, minute, second) as
    written. None where there is no candidate."""
    days, seconds = divmod(now, 86400)
    now_year, month, day = calendar_from_days(days)
    limit_year = now_year + 50
    limit_rest = (month, day, seconds // 3600, seconds // 60 % 60, seconds % 60)

    latest = min(limit_year, 9999)
    year = latest - (latest - two_digits) % 100
    if year == limit_year and rest > limit_rest:
        year -= 100
    for candidate in range(year, -1, -100):
        if day_exists(candidate, rest[0], rest[1]):  # 29 Feb of 1900 does not, of 2000 it does
            return candidate
    return None


class BadDate(Exception):
    """The text has the shape of a date, but there is no such date."""


def read_date(stripped, now):
    """P4: (seconds since 1970, anomalies), or None where the text has not the shape of a date."""
    for form in DATE_FORMS:
        match = form.fullmatch(stripped)
        if match:
            break
    else:
        return None

    month = MONTHS.index(match["month"]) + 1
    day, hour, minute, second = (int(match[name]) for name in ("day", "hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 60:
        raise BadDate
    year = int(match["year"])
    if len(match["year"]) == 2:
        year = full_year(year, (month, day, hour, minute, second), now)
    if year is None or not day_exists(year, month, day):
        raise BadDate

    anomalies = set()
    days = days_from_calendar(year, month, day)
    if not DAYS[(days + 3) % 7].startswith(match["weekday"]):  # 1970-01-01 was a Thursday
        anomalies.add("wrong_weekday")
    if second == 60:  # counts as the first second of the following minute, which the sum gives
        anomalies.add("leap_second")
    return days * 86400 + hour * 3600 + minute * 60 + second, anomalies


# ------------------------------------------------------------------------------------------------------
# Retry-After (section 3)
# ------------------------------------------------------------------------------------------------------

# A usable line. `number` is what tells values apart (seconds, or the instant), `delay` is what they
# amount to (P7).
Usable = namedtuple("Usable", "kind number delay anomalies")
Malformed = namedtuple("Malformed", "reason")

FRACTION = re.compile(r"([0-9]+)\.([0-9]{1,9})")
MAX_LINES = 8  # P8
MAX_LENGTH = 128  # P8


def is_digits(string):
    return string.isascii() and string.isdigit()


def number_of(digits):
    """P3, for digits of any length in linear time: the value, or MAX + 1 for everything above MAX."""
    significant = digits.lstrip("0") or "0"
    return min(int(significant), MAX + 1) if len(significant) <= 16 else MAX + 1


def delay_line(seconds, *anomalies):
    anomalies = set(anomalies)
    if seconds > MAX:  # P3
        seconds = MAX
        anomalies.add("saturated")
    return Usable("delay", seconds, seconds, anomalies)


def reference_of(now, date, age):
    """P6: what a date counts from, and whether `date_skew` is to be flagged."""
    if date is not None:
        age = None if age is None else age.strip(BLANKS)
        from_cache = age is not None and is_digits(age) and number_of(age) > 0
        if not from_cache:
            try:
                own = read_date(date.strip(BLANKS), now)
            except BadDate:
                own = None
            if own is not None:
                return own[0], abs(own[0] - now) > 86400
    return now, False


def read_line(line, now, date, age, lenient_fractions):
    """3.1: one field line, in the order of its steps."""
    value = line.strip(BLANKS)
    if not value:  # step 1
        return Malformed("empty")
    if is_digits(value):  # step 2, P1
        return delay_line(number_of(value))
    if "," in value:  # step 3, P7
        members = [member.strip(BLANKS) for member in value.split(",")]
        if all(map(is_digits, members)):
            return delay_line(max(map(number_of, members)), "folded")
    if len(value) > MAX_LENGTH:  # step 4
        return Malformed("too_long")
    if lenient_fractions:  # step 5, P10
        match = FRACTION.fullmatch(value)
        if match:
            whole, fraction = match.groups()
            return delay_line(number_of(whole) + (number_of(fraction) > 0), "fraction")
    try:
        instant_and_anomalies = read_date(value, now)  # step 6
    except BadDate:
        return Malformed("bad_date")
    if instant_and_anomalies:
        instant, anomalies = instant_and_anomalies
        reference, skewed = reference_of(now, date, age)
        if skewed:
            anomalies.add("date_skew")
        if instant < reference:
            anomalies.add("past")
        return Usable("date", instant, max(0, instant - reference), anomalies)
    # Step 7. One comma may be that of a date; with more of them the value is a list.
    own_comma = re.match("[A-Za-z]+,", value) is not None
    return Malformed("folded" if value.count(",") > own_comma else "not_a_delay_or_date")


def read_retry_after(lines, now, date, age, dates, lenient_fractions):
    """P7 to P9: the whole field. None: absent."""
    results = [read_line(line, now, date, age, lenient_fractions) for line in lines[:MAX_LINES]]
    malformed = [result for result in results if type(result) is Malformed]
    usable = [result for result in results if type(result) is Usable]
    if dates == "treat_as_absent":  # P9
        usable = [result for result in usable if result.kind != "date"]
    if not usable:
        return malformed[0] if malformed else None

    chosen = max(usable, key=lambda result: result.delay)  # the first of the largest
    anomalies = set(chosen.anomalies)
    if len({(result.kind, result.number) for result in usable}) > 1:
        anomalies.add("repeated")
    if malformed:
        anomalies.add("ignored_line")
    return chosen._replace(anomalies=anomalies)


DATES = one_of("honour", "treat_as_absent")


def answer_parse(question):
    """11.1"""
    hint = read_retry_after(
        lines=question.take("lines", list_of(octets)),
        now=question.take("now", any_integer),
        date=question.take("date", or_null(octets), None),
        age=question.take("age", or_null(octets), None),
        dates=question.take("dates", DATES, "honour"),
        lenient_fractions=question.take("lenient_fractions", boolean, False),
    )
    if hint is None:
        return {"kind": "absent"}
    if type(hint) is Malformed:
        return {"kind": "malformed", "reason": hint.reason}
    if hint.kind == "delay":
        return {"kind": "delay", "seconds": hint.number, "anomalies": sorted(hint.anomalies)}
    return {
        "kind": "date",
        "unix": hint.number,
        "delay": saturate(hint.delay),
        "anomalies": sorted(hint.anomalies),
    }


# ------------------------------------------------------------------------------------------------------
# Policies (sections 5, 6 and 8)
#
# A policy is a dictionary with the field names of 11.2. `retry_on` maps a status to what it needs. A
# schedule is the triple (base, factor, cap); a constant one has the factor 1.
# ------------------------------------------------------------------------------------------------------

# Section 8, as far as sessions show it; the rows are in the order of the table there.
PROFILE_NAMES = "muse", "shakenfist", "alkhttp", "recommended"
PROFILE_TABLE = [
    (
        "retry_on",
        {503: None},
        {507: "transient"},
        {408: None, 429: None, 500: None, 502: None, 503: None, 504: None},
        {408: None, 429: None, 502: None, 503: None, 504: None, 413: "hint", 507: "transient"},
    ),
    ("enabled", True, False, True, True),
    ("repeat_unanswered", False, False, True, True),
    ("dates", "treat_as_absent", "treat_as_absent", "honour", "honour"),
    ("lenient_fractions", False, False, False, False),
    ("default_backoff_ms", 5000, 15000, 0, 0),
    ("backoff", None, None, (100, 2, 2000), (1000, 2, 30000)),
    ("floor_ms", 1000, 1000, 0, 1000),
    ("ceiling_ms", 60000, 60000, 300000, 120000),
    ("over_ceiling", "clamp", "clamp", "clamp", "give_up"),
    ("combine", "hint_only", "hint_only", "max", "max"),
    ("budget_ms", 120000, 60000, 10000, 300000),
    ("over_budget", "give_up", "truncate_then_try", "truncate_then_try", "give_up"),
    ("max_attempts", None, 5, 4, 10),
    ("jitter_per_mille", 0, 0, 250, 500),
    ("jitter_cap_ms", None, None, 2000, 30000),
]
PROFILES = {
    name: {row[0]: row[column] for row in PROFILE_TABLE}
    for column, name in enumerate(PROFILE_NAMES, start=1)
}


def schedule(value):
    fields = Fields(value)
    if fields.take("kind", one_of("constant", "exponential")) == "constant":
        fields.refuse_others("kind", "ms")
        ms = fields.take("ms", natural)
        return ms, 1, ms
    fields.refuse_others("kind", "base_ms", "factor", "cap_ms")
    return (
        fields.take("base_ms", natural),
        fields.take("factor", integer(1)),  # B8
        fields.take("cap_ms", natural),
    )


status_code = integer(100, 599)


def retry_on_entry(value):
    fields = Fields(value)
    fields.refuse_others("status", "needs")
    return fields.take("status", status_code), fields.take("needs", one_of("transient", "hint"), None)


def retry_on_set(value):
    entries = list_of(retry_on_entry)(value)
    statuses = dict(entries)
    if len(statuses) < len(entries):  # B8
        raise Invalid("a status is listed twice")
    return statuses


POLICY_FIELDS = {
    "enabled": boolean,
    "floor_ms": natural,
    "ceiling_ms": natural,
    "over_ceiling": one_of("clamp", "give_up"),
    "combine": one_of("hint_only", "max"),
    "default_backoff_ms": natural,
    "backoff": or_null(schedule),
    "budget_ms": natural,
    "over_budget": one_of("give_up", "truncate_then_try"),
    "max_attempts": or_null(integer(1)),  # B8
    "dates": DATES,
    "lenient_fractions": boolean,
    "repeat_unanswered": boolean,
    "jitter_per_mille": integer(0, 1000),  # B8
    "jitter_cap_ms": natural,
    "retry_on": retry_on_set,
}


def policy_from(profile, value):
    """The profile with the overrides of a question."""
    overrides = Fields(value)
    overrides.refuse_others(*POLICY_FIELDS)
    policy = dict(PROFILES[profile])
    if "jitter_per_mille" in overrides:  # the profile's cap belongs to the profile's jitter
        policy["jitter_cap_ms"] = None
    for name in overrides.members:
        policy[name] = overrides.take(name, POLICY_FIELDS[name])

    if policy["floor_ms"] > policy["ceiling_ms"]:  # B8
        raise Invalid("the floor is above the ceiling")
    if policy["floor_ms"] == 0 and policy["backoff"] is None and policy["max_attempts"] is None:  # B8
        raise Invalid("floor 0 with neither a schedule nor an attempt cap could spin")
    return policy


def scheduled_backoff(backoff, attempts):
    """min(base * factor^(attempts - 1), cap) without computing powers beyond the cap (W5)."""
    base, factor, cap = backoff
    if factor > 1 and base > 0:
        for _ in range(attempts - 1):
            if base >= cap:
                break
            base *= factor
    return min(base, cap)


# ------------------------------------------------------------------------------------------------------
# The decision (section 10) and the session (11.2)
# ------------------------------------------------------------------------------------------------------

IDEMPOTENT = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE")

Request = namedtuple("Request", "method vouched body")
# `status` is None for an unanswered attempt, `outcome` is None for an answered one.
Event = namedtuple("Event", "took_ms status outcome retry_after date age body")

Done = namedtuple("Done", "")
Stop = namedtuple("Stop", "reason")
Wait = namedtuple("Wait", "ms applied")


def in_the_set(policy, event):
    """C1, check 1. A 1xx status is never in."""
    if event.status is None:
        return policy["repeat_unanswered"]
    return event.status >= 200 and event.status in policy["retry_on"]


def marked(policy, event, hint_ms):
    """C2: does the response carry what its status needs?"""
    needs = policy["retry_on"][event.status]
    if needs == "transient" or event.status == 507:
        if type(event.body) is not dict or event.body.get("transient") is not True:
            return False
    return needs != "hint" or hint_ms is not None


def may_be_sent_again(request, event):
    """C4"""
    if request.body == "once":
        return False
    if request.vouched or request.method in IDEMPOTENT:
        return True
    return event.outcome == "not_sent"


def decide(policy, request, attempts, elapsed, event, hint, hint_ms, draws):
    """Section 10. `hint_ms` is the exact hint, or None where none is usable (H1)."""
    if event.status is not None and 200 <= event.status <= 399:
        return Done()

    # C1: the first check that fails names the reason.
    if not in_the_set(policy, event):
        return Stop("not_retryable")
    if not policy["enabled"]:
        return Stop("disabled")
    if event.status is not None and not marked(policy, event, hint_ms):
        return Stop("unmarked")
    if not may_be_sent_again(request, event):
        return Stop("not_replayable")
    if policy["max_attempts"] is not None and attempts >= policy["max_attempts"]:
        return Stop("attempts_exhausted")
    if hint_ms is not None and hint_ms > policy["ceiling_ms"] and policy["over_ceiling"] == "give_up":
        return Stop("hint_above_ceiling")  # W2: equal is within

    # Section 5: the wait, and what shaped it.
    applied = []
    if policy["backoff"] is None:  # W6
        backoff, source = policy["default_backoff_ms"], "default_backoff"
    else:
        backoff, source = scheduled_backoff(policy["backoff"], attempts), "backoff"
    if hint_ms is not None:
        wait = hint_ms
        if policy["combine"] == "max" and backoff > wait:  # W4
            wait = backoff
            applied.append(source)
    else:
        if type(hint) is Malformed and policy["default_backoff_ms"] > backoff:  # W6
            backoff, source = policy["default_backoff_ms"], "default_backoff"
        wait = backoff
        applied.append(source)
    if wait < policy["floor_ms"]:  # W1
        wait = policy["floor_ms"]
        applied.append("floor")
    if wait > policy["ceiling_ms"]:  # W2
        wait = policy["ceiling_ms"]
        applied.append("ceiling")

    # Section 6: the budget.
    remaining = policy["budget_ms"] - elapsed
    if policy["budget_ms"] == 0:  # B1
        return Stop("budget_exhausted")
    if policy["over_budget"] == "give_up":  # B2: equality still waits
        if wait > remaining:
            return Stop("budget_exhausted")
    else:  # B3
        if remaining <= 0:
            return Stop("budget_exhausted")
        if wait > remaining:
            wait = remaining
            applied.append("truncated")

    # W3: jitter only lengthens, and stays within the budget.
    most = min(wait * policy["jitter_per_mille"] // 1000, remaining - wait)
    if policy["jitter_cap_ms"] is not None:
        most = min(most, policy["jitter_cap_ms"])
    jitter = most * next(draws, 0) // 1000
    if jitter > 0:
        wait += jitter
        applied.append("jitter")
    return Wait(wait, applied)


def request_from(value):
    fields = Fields(value)
    return Request(
        method=fields.take("method", text, "GET"),
        vouched=fields.take("vouched", boolean, False),
        body=fields.take("body", one_of("none", "replayable", "once"), "replayable"),
    )


def header(value):
    if type(value) is not list or len(value) != 2:
        raise Invalid("must be a pair of name and value")
    return text(value[0]).lower(), octets(value[1])


def event_from(value):
    fields = Fields(value)
    fields.exactly_one_of("status", "outcome")
    headers = fields.take("headers", list_of(header), [])

    def values(wanted):
        return [content for name, content in headers if name == wanted]

    return Event(
        took_ms=fields.take("took_ms", natural),
        status=fields.take("status", status_code, None),
        outcome=fields.take("outcome", one_of("not_sent", "lost"), None),
        retry_after=values("retry-after"),
        date=next(iter(values("date")), None),
        age=next(iter(values("age")), None),
        body=fields.take("body", anything, None),
    )


# A clock so late that P5 finds every year it can find: with it, a two-digit year is a valid date if it
# is one under any clock that is late enough.
FAR_FUTURE = 10**12


def date_occurs(event):
    """Is a `Retry-After` line a valid date? Then a session needs `now`."""
    lines = event.retry_after
    results = [read_line(line, FAR_FUTURE, None, None, False) for line in lines[:MAX_LINES]]
    return any(type(result) is Usable and result.kind == "date" for result in results)


def answer_session(question):
    """11.2"""
    profile = question.take("profile", one_of(*PROFILES))
    policy = question.take("policy", lambda value: policy_from(profile, value), policy_from(profile, {}))
    request = question.take("request", request_from, request_from({}))
    draws = iter(question.take("random", list_of(integer(0, 1000)), []))
    events = question.take("events", list_of(event_from, at_least=1))
    now = question.take("now", any_integer, None)
    if now is None:
        if any(map(date_occurs, events)):
            raise Invalid("now is missing, and a Retry-After line is a date")
        now = 0  # nothing depends on it

    outcome, clock, waited, steps = "waiting", 0, 0, []
    for attempts, event in enumerate(events, start=1):
        clock = saturate(clock + event.took_ms)

        hint = hint_ms = None
        if event.status is not None:  # C6: an unanswered attempt carries no hint
            hint = read_retry_after(
                event.retry_after,
                now + clock // 1000,
                event.date,
                event.age,
                policy["dates"],
                policy["lenient_fractions"],
            )
            if type(hint) is Usable:
                hint_ms = hint.delay * 1000
        shown_hint = None if hint_ms is None else saturate(hint_ms)

        decision = decide(policy, request, attempts, clock, event, hint, hint_ms, draws)
        step = {"at_ms": clock}
        steps.append(step)
        if type(decision) is Wait:
            step.update(
                decision="wait",
                wait_ms=saturate(decision.ms),
                hint_ms=shown_hint,
                applied=decision.applied,
            )
            clock = saturate(clock + decision.ms)
            waited = saturate(waited + decision.ms)
            continue
        if type(decision) is Stop:
            step.update(decision="stop", reason=decision.reason, hint_ms=shown_hint)
            outcome = "refused" if in_the_set(policy, event) else "failed"
        else:
            step.update(decision="done")
            outcome = "success"
        break
    return {
        "outcome": outcome,
        "attempts": attempts,
        "waited_ms": waited,
        "ended_at_ms": clock,
        "steps": steps,
    }


# ------------------------------------------------------------------------------------------------------
# Windows (section 7 and 11.3)
# ------------------------------------------------------------------------------------------------------

# `order` counts the records: the larger, the more recent (E9).
Window = namedtuple("Window", "not_before recorded_at order")


class Windows:
    """The store. It holds live windows only: each operation first drops what has expired.

    `queue` is a heap of (not_before, order, key), so its head is what expires soonest and, among equals,
    was recorded least recently: the one to drop or to evict. A later record or a success leaves an
    outdated entry behind, known by its order, which is skipped.
    """

    def __init__(self, join, capacity, ceiling_ms):
        self.join = max if join == "latest" else min  # E3
        self.capacity = capacity
        self.ceiling_ms = ceiling_ms
        self.windows = {}
        self.queue = []
        self.records = 0

    def drop_expired(self, at):
        while self.queue and self.queue[0][0] <= at:  # E4: free at every t >= not_before
            self.drop_head()

    def drop_head(self):
        _, order, key = heapq.heappop(self.queue)
        if key in self.windows and self.windows[key].order == order:
            del self.windows[key]

    def record(self, at, key, not_before):
        self.drop_expired(at)
        not_before = min(not_before, at + self.ceiling_ms)  # E3
        if not_before <= at:  # E4: ignored altogether
            return
        if key in self.windows:
            not_before = self.join(not_before, self.windows[key].not_before)
        while key not in self.windows and len(self.windows) >= self.capacity:  # E9
            self.drop_head()
        self.records += 1
        self.windows[key] = Window(not_before, at, self.records)
        heapq.heappush(self.queue, (not_before, self.records, key))

    def ask(self, at, key):
        self.drop_expired(at)
        return self.windows[key].not_before if key in self.windows else None

    def success(self, at, key, started):
        self.drop_expired(at)
        if key in self.windows and started > self.windows[key].recorded_at:  # E6
            del self.windows[key]


def window_event(value):
    fields = Fields(value)
    what = fields.exactly_one_of("record", "ask", "success")
    at = fields.take("at_ms", natural)
    key = fields.take(what, text)
    instant = None
    if what == "record":
        instant = fields.take("not_before_ms", natural)
    elif what == "success":
        instant = fields.take("started_ms", natural)
    return at, what, key, instant


def answer_windows(question):
    """11.3"""
    windows = Windows(
        join=question.take("join", one_of("latest", "earliest"), "latest"),
        capacity=question.take("capacity", integer(1), 1024),
        ceiling_ms=question.take("ceiling_ms", natural, 300000),
    )
    events = question.take("events", list_of(window_event))
    for before, after in zip(events, events[1:]):
        if after[0] < before[0]:
            raise Invalid("events: at_ms goes back")

    answers = []
    for at, what, key, instant in events:
        if what == "record":
            windows.record(at, key, instant)
        elif what == "success":
            windows.success(at, key, instant)
        else:
            not_before = windows.ask(at, key)
            answers.append(
                {
                    "at_ms": saturate(at),
                    "not_before_ms": None if not_before is None else saturate(not_before),
                }
            )
    return {"answers": answers, "size": len(windows.windows)}


# ------------------------------------------------------------------------------------------------------
# Lines in, lines out (section 11)
# ------------------------------------------------------------------------------------------------------

OPERATIONS = {"parse": answer_parse, "session": answer_session, "windows": answer_windows}

def json_integer(digits):
    """Numbers saturate on their way in, too. A longer literal is not even converted: that would take
    quadratic time, and Python refuses it."""
    if len(digits) > 20:
        return -MAX if digits[0] == "-" else MAX
    return max(-MAX, min(int(digits), MAX))


def json_constant(name):
    raise ValueError("%s is not JSON" % name)  # NaN and Infinity, which Python would accept


decoder = json.JSONDecoder(parse_int=json_integer, parse_constant=json_constant)
encoder = json.JSONEncoder(separators=(",", ":"))


def answer(line):
    """The answer to one line (bytes), as an object."""
    try:
        decoded = decoder.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return {"error": "not UTF-8: %s at byte %d" % (error.reason, error.start)}
    except ValueError as error:
        return {"error": "not JSON: %s" % error if line.strip() else "a blank line"}
    except RecursionError:
        return {"error": "nested too deeply"}
    try:
        question = Fields(decoded)
        operation = question.take("op", one_of(*OPERATIONS))
        return OPERATIONS[operation](question)
    except Invalid as error:
        return {"error": str(error)}


def answer_lines(lines):
    return "".join(encoder.encode(answer(line)) + "\n" for line in lines).encode("ascii")


def serve(source, sink):
    """Answers all that has arrived, flushes, and only then waits for more."""
    pending = []  # the pieces of a line that has not ended yet
    while True:
        chunk = source.read1(1 << 16)
        if not chunk:
            break
        lines = chunk.split(b"\n")  # LF alone ends a line; a CR before it is a blank of JSON
        pending.append(lines[0])
        if len(lines) > 1:
            lines[0] = b"".join(pending)
            pending = [lines.pop()]
            sink.write(answer_lines(lines))
            sink.flush()
    last = b"".join(pending)
    if last:  # the last line may lack its end
        sink.write(answer_lines([last]))
        sink.flush()


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except OSError as error:
        sys.exit("reading or writing failed: %s" % error)
