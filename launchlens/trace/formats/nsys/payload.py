"""Decodes NVTX extended payloads: binary data whose layout the trace describes in rows.

Layout of ``NVTX_EVENTS.binaryData``, as seen in exports of nsys 2025.3: for each payload of the
event a header of four unsigned 64-bit integers (domain, schema, size, offset of the payload from
the header's start), then the payload.
Layout of a payload: nvToolsExtPayload.h (entry types, flags), rows of NVTX_PAYLOAD_SCHEMA_ENTRIES.

What cannot be decoded (addresses of the traced process, unknown types) gives None; nothing
raises on strange bytes, since a stack is a help and no figure.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from launchlens.trace.formats.nsys.layouts import EntryRow, Layouts

Value = int | float | str | bytes | list["Value"] | dict[str, "Value"] | None

_HEADER = struct.Struct("<QQQQ")
_REFERENCED, _RAW = 1022, 1023
_FIRST_SCHEMA_ID = 1 << 24
_POINTER, _FROM_BASE, _FROM_HERE = 1 << 1, 1 << 2, 1 << 3
_FIXED, _ZERO_ENDED, _LENGTH_INDEX = 1, 2, 3
_ARRAY_SHIFT, _ARRAY_MASK = 4, 7
_STRINGS = {75: 1, 76: 1, 77: 2, 78: 4}
_HANDLE = 80
_SCALARS = {
    1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "q", 8: "Q", 9: "q", 10: "Q",
    11: "b", 12: "B", 13: "h", 14: "H", 15: "i", 16: "I", 17: "q", 18: "Q", 19: "f", 20: "d",
    22: "Q", 23: "Q", 25: "B", 26: "H", 27: "I", 32: "B", 43: "f", 44: "d",
    68: "I", 69: "I", 70: "Q", 71: "I", 72: "Q", 73: "I", 74: "Q", 80: "Q",
}  # fmt: skip
_LIMIT = 4096
_DEPTH = 8
_MOST_FIELDS = 1 << 16  # of one payload: offsets that point back would have it read again and again


def decode_payload(blob: bytes, layouts: Layouts, domain: int = 0) -> list[Value]:
    """The payloads of one event, each as a dict of its fields (or a plain value).

    ``domain`` is the event's, used where the header's is not known. What cannot be decoded is left
    out: empty for bytes of another format.
    """
    decoded: list[Value] = []
    for schema, start, end in _payloads(blob):
        if schema in _STRINGS:
            decoded.append(_text(blob[start:end], _STRINGS[schema]))
        else:
            reader, fields = _reader(blob, (schema, start, end), layouts, domain)
            if fields:
                decoded.append(reader.struct(fields, 0, _DEPTH)[0])
    return decoded


def survey_payload(blob: bytes, layouts: Layouts, domain: int = 0) -> tuple[set[int], bytes]:
    """What a scrubber must know of the payloads of one event (see `decode_payload`).

    Returns:
        Ids of the registered strings (StringIds) the payloads refer to, and the blob with the
        padding between structures cleared: nsys leaves there what lay in the process's memory.
    """
    found: set[int] = set()
    cleared = bytearray(blob)
    for schema, start, end in _payloads(blob):
        reader, fields = _reader(blob, (schema, start, end), layouts, domain)
        if fields:
            reader.struct(fields, 0, _DEPTH)
            found |= reader.string_ids
            for low, high in reader.padding:
                cleared[start + low : start + high] = bytes(high - low)
    return found, bytes(cleared)


def _payloads(blob: bytes) -> Iterator[tuple[int, int, int]]:
    """Schema, start and end of each payload that describes itself."""
    at = 0
    while at + _HEADER.size <= len(blob):
        _, schema, size, _ = _HEADER.unpack_from(blob, at)
        start, at = at + _HEADER.size, at + _HEADER.size + size
        if at > len(blob):
            return
        if schema not in {_REFERENCED, _RAW}:
            yield schema, start, at


def _reader(
    blob: bytes, payload: tuple[int, int, int], layouts: Layouts, domain: int
) -> tuple[_Reader, tuple[EntryRow, ...]]:
    schema, start, end = payload
    told_domain = _HEADER.unpack_from(blob, start - _HEADER.size)[0]
    owner = told_domain if (told_domain, schema) in layouts.entries else domain
    return _Reader(blob[start:end], layouts, owner), layouts.fields(owner, schema)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the fields of one payload; positions are bytes from the payload's start.

    Notes the ids of registered strings it meets, and the padding at the end of structures.
    """

    data: bytes
    layouts: Layouts
    domain: int
    string_ids: set[int] = dataclasses.field(default_factory=set)
    padding: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    left: list[int] = dataclasses.field(default_factory=lambda: [_MOST_FIELDS])

    def struct(
        self, fields: tuple[EntryRow, ...], base: int, depth: int
    ) -> tuple[dict[str, Value], int]:
        """Fields as a dict, and where the structure ends."""
        values: dict[str, Value] = {}
        by_index: dict[int, Value] = {}
        at = base
        moved = False  # after a field of variable length the stated offsets no longer hold
        for field in fields:
            if field.offset is not None and not moved and (field.offset or not by_index):
                at = base + field.offset
            value, end = self.field(field, at, base, by_index, depth)
            moved = moved or self._is_variable(field)
            by_index[field.index] = value
            values[field.name or f"field {field.index}"] = value
            at = end
        return values, at

    def field(
        self, field: EntryRow, at: int, base: int, known: Mapping[int, Value], depth: int
    ) -> tuple[Value, int]:
        """A field's value and where what follows it begins."""
        if field.flags & (_FROM_BASE | _FROM_HERE | _POINTER):
            target = self._scalar("Q", at)
            after = at + 8
            if not isinstance(target, int) or field.flags & _POINTER:
                return None, after
            place = base + target if field.flags & _FROM_BASE else after + target
            return self._value(field, place, known, depth)[0], after
        return self._value(field, at, known, depth)

    def _value(
        self, field: EntryRow, at: int, known: Mapping[int, Value], depth: int
    ) -> tuple[Value, int]:
        kind, array = field.kind, (field.flags >> _ARRAY_SHIFT) & _ARRAY_MASK
        length = self._length(field, array, known)
        if kind in _STRINGS:
            width = _STRINGS[kind]
            if length is None:
                end = self._terminator(at, width)
                return _text(self.data[at:end], width), end + width
            return _text(self.data[at : at + length * width], width), at + length * width
        if array == 0:
            return self._one(kind, at, depth)
        items: list[Value] = []
        while len(items) < (_LIMIT if length is None else min(length, _LIMIT)):
            item, end = self._one(kind, at, depth)
            if end <= at or end > len(self.data):
                break
            at = end
            if length is None and not item:
                break
            items.append(item)
        return items, at

    def _one(self, kind: int, at: int, depth: int) -> tuple[Value, int]:
        self.left[0] -= 1
        if self.left[0] < 0:
            return None, len(self.data) + 1
        code = _SCALARS.get(kind)
        if code is not None:
            value = self._scalar(code, at)
            if kind == _HANDLE and isinstance(value, int):
                self.string_ids.add(value)
                value = self.layouts.strings.get(value)
            return value, at + struct.calcsize(code)
        fields = self.layouts.fields(self.domain, kind) if kind >= _FIRST_SCHEMA_ID else ()
        if not fields or depth == 0:
            return None, len(self.data) + 1
        value, end = self.struct(fields, at, depth - 1)
        full = at + self.layouts.size(self.domain, kind)
        if end < full <= len(self.data):
            self.padding.append((end, full))
        return value, max(end, full)

    def _length(self, field: EntryRow, array: int, known: Mapping[int, Value]) -> int | None:
        if array == _LENGTH_INDEX:
            told = known.get(field.detail)
            return told if isinstance(told, int) and told >= 0 else 0
        if array == _ZERO_ENDED:
            return None
        return field.detail or None

    def _is_variable(self, field: EntryRow) -> bool:
        if field.flags & (_FROM_BASE | _FROM_HERE | _POINTER):
            return False
        array = (field.flags >> _ARRAY_SHIFT) & _ARRAY_MASK
        return array in {_ZERO_ENDED, _LENGTH_INDEX} or (
            field.kind in _STRINGS and not field.detail
        )

    def _terminator(self, at: int, width: int) -> int:
        found = self.data.find(bytes(width), max(at, 0))
        while found >= 0 and (found - at) % width:
            found = self.data.find(bytes(width), found + 1)
        end = len(self.data) if found < 0 else found
        self.left[0] -= (end - at) // 64
        return min(end, len(self.data))

    def _scalar(self, code: str, at: int) -> Value:
        size = struct.calcsize(code)
        if at < 0 or at + size > len(self.data):
            return None
        value: int | float = struct.unpack_from(f"<{code}", self.data, at)[0]
        return value


def _text(data: bytes, width: int) -> str:
    codec = {1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}[width]
    return data.decode(codec, errors="replace").split("\0", 1)[0]
