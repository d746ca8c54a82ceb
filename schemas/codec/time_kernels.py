# mypy: ignore-errors
"""Dates and times, both ways. ``take_*`` answer the next position or minus the reason; ``put_*`` the next one.

A time that 64 bits do not hold is taken as zero, and its position has ``ODD_TIME`` added.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .memory import get_1, load_i4, load_i8, put_1, put_4, put_8, store_i2, store_i4, store_i8
from .ops import (
    FAR_TIME,
    INSTANT,
    LOCAL_DATE,
    LOCAL_TIME,
    MILLIS,
    ODD_TIME,
    RANGE,
    SHORT,
    SQL_TIMESTAMP,
    WIDE_DATE,
    WIDE_DATE_TIME,
    WIDE_INSTANT,
    WIDE_SQL_TIMESTAMP,
)

_MIN8 = np.int64(-0x8000000000000000)
_ODD = np.int64(ODD_TIME)
_MIN4 = np.int64(-0x80000000)
_NANOS = np.int64(1_000_000_000)
_MILLI = np.int64(1_000_000)
_DAY_NANOS = np.int64(86_400_000_000_000)
#: ``Instant.MIN``, ``Instant.MAX`` and the years of ``LocalDate``.
_FIRST_SECOND = np.int64(-31_557_014_167_219_200)
_LAST_SECOND = np.int64(31_556_889_864_403_199)
_LAST_YEAR = np.int64(999_999_999)


@njit(**PART_OF_KERNEL)
def days_from_civil(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= np.int64(month <= 2)
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


@njit(**PART_OF_KERNEL)
def civil_from_days(days):
    """Year, month, day of a day count since 1970-01-01 in the proleptic Gregorian calendar."""
    days += 719468
    era = days // 146097
    day_of_era = days - era * 146097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + np.int64(month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


@njit(**PART_OF_KERNEL)
def is_date(year, month, day):
    """Whether ``LocalDate`` has this date."""
    if month < 1 or month > 12 or day < 1 or day > 31 or year > _LAST_YEAR or year < -_LAST_YEAR:
        return False
    y, m, d = civil_from_days(days_from_civil(year, month, day))
    return d == day and m == month and y == year  # not 31 June


@njit(**PART_OF_KERNEL)
def is_time(op, value, month, day, nanos):
    """Whether the parts of a wide time are those of a time in Java; ``value`` is its first part."""
    if op == WIDE_INSTANT:
        return _FIRST_SECOND <= value <= _LAST_SECOND and 0 <= nanos < _NANOS
    if op == WIDE_SQL_TIMESTAMP:
        return value != _MIN8 and 0 <= nanos < _NANOS and nanos // _MILLI == value - value // 1000 * 1000
    return is_date(value, month, day) and 0 <= nanos < _DAY_NANOS


@njit(**PART_OF_KERNEL)
def nanos_of(seconds, nanos):
    """OK (0) or the reason, and nanoseconds since the epoch."""
    if nanos < 0 or nanos >= _NANOS:
        return RANGE, np.int64(0)
    if seconds > 9_223_372_035 or seconds < -9_223_372_036:
        return FAR_TIME, np.int64(0)
    return 0, seconds * _NANOS + nanos


@njit(**PART_OF_KERNEL)
def timestamp_of(millis, nanos, unit):
    """A TimestampData in units of ``unit`` nanoseconds: OK (0) or the reason, and the number. It has to be exact."""
    if nanos < 0 or nanos >= _MILLI:
        return RANGE, np.int64(0)
    per_milli = _MILLI // unit
    far = millis > (np.int64(0x7FFFFFFFFFFFFFFF) // per_milli) - 1 or millis < (_MIN8 // per_milli) + 1
    if far or nanos % unit:
        return FAR_TIME, np.int64(0)
    return 0, millis * per_milli + nanos // unit


@njit(**PART_OF_KERNEL)
def take_stamp(op, buf, pos, end, mem, slot, valid, nanos_slot):
    """MILLIS, INSTANT, SQL_TIMESTAMP and the wide ones; the slots are addresses that have room."""
    if pos + 8 > end:
        return np.int64(-SHORT)
    size = np.int64(8) if op == MILLIS else np.int64(12)
    value = load_i8(buf, pos)
    nanos = np.int64(0)
    present = value != _MIN8
    if not present and (op == SQL_TIMESTAMP or op == WIDE_SQL_TIMESTAMP):
        # Flink writes 12 bytes for a null here and reads 8 back (spec 2.2).
        size = np.int64(12) if pos + 12 <= end and load_i4(buf, pos + 8) == 0 else np.int64(8)
    if pos + size > end:
        return np.int64(-SHORT)
    if op != MILLIS and present:
        nanos = load_i4(buf, pos + 8)
    if op == WIDE_INSTANT or op == WIDE_SQL_TIMESTAMP:
        if present and not is_time(op, value, np.int64(1), np.int64(1), nanos):
            return np.int64(-RANGE)
        put_4(mem, nanos_slot, nanos)
    elif op != MILLIS and present:
        millis = value - value // 1000 * 1000
        reason, value = nanos_of(value if op == INSTANT else value // 1000, nanos)
        if reason != RANGE and op == SQL_TIMESTAMP and nanos // _MILLI != millis:
            reason = RANGE
        if reason == FAR_TIME:
            size += _ODD
        elif reason != 0:
            return np.int64(-reason)
    put_8(mem, slot, value if present else np.int64(0))
    put_1(mem, valid, np.int64(present))
    return pos + size


@njit(**PART_OF_KERNEL)
def put_stamp(op, out, at, value, present, nanos):
    if op == MILLIS:
        store_i8(out, at, value if present else _MIN8)
        return at + 8
    if op == INSTANT or op == SQL_TIMESTAMP:
        seconds = value // _NANOS
        nanos = value - seconds * _NANOS
        value = seconds if op == INSTANT else seconds * 1000 + nanos // _MILLI
    store_i8(out, at, value if present else _MIN8)
    missing = _MIN4 if op == INSTANT or op == WIDE_INSTANT else np.int64(0)
    store_i4(out, at + 8, nanos if present else missing)
    return at + 12


@njit(**PART_OF_KERNEL)
def take_local(op, buf, pos, end, mem, slot, valid, month_slot, day_slot, nanos_slot):
    """LOCAL_DATE, LOCAL_TIME, LOCAL_DATE_TIME and the wide ones; the slots are addresses that have room."""
    only_date = op == LOCAL_DATE or op == WIDE_DATE
    size = np.int64(6) if only_date else np.int64(7) if op == LOCAL_TIME else np.int64(13)
    if pos + size > end:
        return np.int64(-SHORT)
    year = np.int64(0)
    month = np.int64(0)
    day = np.int64(0)
    nanos = np.int64(0)
    present = True
    at = pos
    if op != LOCAL_TIME:
        year = load_i4(buf, at)
        month = get_1(buf, at + 4)
        day = get_1(buf, at + 5)
        present = year != _MIN4 or month != 0x80
        if present and not is_date(year, month, day):
            return np.int64(-RANGE)
        at += 6
    if not only_date:
        hour = get_1(buf, at)
        present = present and hour != 0x80
        if present:
            minute = get_1(buf, at + 1)
            second = get_1(buf, at + 2)
            nano = load_i4(buf, at + 3)
            if hour > 23 or minute > 59 or second > 59 or nano < 0 or nano >= _NANOS:
                return np.int64(-RANGE)
            nanos = (hour * 3600 + minute * 60 + second) * _NANOS + nano
    put_1(mem, valid, np.int64(present))
    if op == WIDE_DATE or op == WIDE_DATE_TIME:
        put_4(mem, slot, year if present else np.int64(0))
        put_1(mem, month_slot, month if present else np.int64(0))
        put_1(mem, day_slot, day if present else np.int64(0))
        if op == WIDE_DATE_TIME:
            put_8(mem, nanos_slot, nanos)
        return pos + size
    days = np.int64(0)
    if op != LOCAL_TIME and present:
        days = days_from_civil(year, month, day)
    if op == LOCAL_DATE:
        if days > 0x7FFFFFFF or days < _MIN4:
            days = np.int64(0)
            size += _ODD
        put_4(mem, slot, days)
    else:
        if days > 106750 or days < -106751:
            days = np.int64(0)
            size += _ODD
        put_8(mem, slot, days * _DAY_NANOS + nanos)
    return pos + size


@njit(**PART_OF_KERNEL)
def put_local(op, out, at, value, present, month, day, nanos):
    """``value`` is the days, the nanoseconds or, for the wide ones, the year."""
    year = value
    if op == LOCAL_DATE:
        year, month, day = civil_from_days(value)
    elif op != WIDE_DATE and op != WIDE_DATE_TIME:
        days = value // _DAY_NANOS
        nanos = value - days * _DAY_NANOS
        year, month, day = civil_from_days(days)
    if op != LOCAL_TIME:
        if present:
            store_i4(out, at, year)
            put_1(out, at + 4, month)
            put_1(out, at + 5, day)
        else:
            store_i4(out, at, _MIN4)
            store_i2(out, at + 4, np.int64(-0x8000))
        at += 6
    if op != LOCAL_DATE and op != WIDE_DATE:
        if present:
            seconds = nanos // _NANOS
            put_1(out, at, seconds // 3600)
            put_1(out, at + 1, seconds // 60 % 60)
            put_1(out, at + 2, seconds % 60)
            store_i4(out, at + 3, nanos - seconds * _NANOS)
        else:
            put_1(out, at, np.int64(0x80))
            store_i2(out, at + 1, np.int64(-0x8000))
            store_i4(out, at + 3, _MIN4)
        at += 7
    return at
