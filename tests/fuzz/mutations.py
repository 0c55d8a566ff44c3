"""Ways to spoil an export: by SQL, as another nsys might, and by bytes, as a disk might."""

import gzip
import lzma
import sqlite3
from contextlib import closing

READ = (
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "NVTX_EVENTS",
    "StringIds",
)
NUMBERS = (0, -1, 1, 2, 127, 2**31 - 1, 2**31, 2**32, 2**40, 2**53 + 1, 2**63 - 1, -(2**63))
TEXTS = (
    "",
    "abc",
    "12abc",
    "9" * 30,
    "\0x",
    "a\x1b[31m\x07b",
    "::set-output name=x::y",
    "<img src=x onerror=alert(1)>",
    "|a|b|\n\n# c @someone",
    "\u202e\ud7ff\uffff😀",
    "prefill",
    "decode#7",
    "execute_context_1(128)_generation_0(0)",
    "execute_context_0(0)_generation_0(0)",
    "gpu_model_runner: forward",
    "[Executor] _forward_step 3: 1 ctx reqs, 0 gen reqs",
    "cudaLaunchKernel_v7000",
    "cudaGraphLaunch_v10000",
    "cudaStreamBeginCapture_v10000",
    "cudaStreamSynchronize",
    "/".join(("", "home", "someone", *"x" * 50, "")),
    "A" * 100_000,
    "/a" * 30_000,
    "TOKEN" * 20_000,
)
OTHER = (1.5, -0.0, 1e300, float("inf"), b"", b"\xff\xfe\x00", b"\x00" * 100)


def spoil_by_sql(rng, path, times):
    """Apply mutations to an export; what SQLite itself refuses is no mutation and passes."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
        db.commit()
    done = []
    with closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        for _ in range(times):
            mutation = rng.choice(MUTATIONS)
            done.append(mutation.__name__)
            try:
                mutation(rng, db)
                db.commit()
            except sqlite3.Error:
                db.rollback()
    return done


def _tables(db):
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [row[0].decode() for row in rows]


def _table(rng, db):
    there = _tables(db)
    read = [t for t in there if t in READ]
    return rng.choice(read if read and rng.random() < 0.8 else there)


def _columns(db, table):
    return [row[1].decode() for row in db.execute(f'PRAGMA table_info("{table}")')]


def _place(rng, db):
    """A table, one of its columns, and which rows: one, some or all."""
    table = _table(rng, db)
    column = rng.choice(_columns(db, table))
    step = rng.choice((1, 1, 2, 3, 10, 100))
    which = rng.choice(
        (f"rowid % {step} = 0", f"rowid = (SELECT min(rowid) + {step - 1} FROM '{table}')")
    )
    return table, column, which


def _value(rng):
    return rng.choice(rng.choice((NUMBERS, NUMBERS, TEXTS, OTHER, (None,))))


def set_null(rng, db):
    table, column, which = _place(rng, db)
    db.execute(f'UPDATE "{table}" SET "{column}" = NULL WHERE {which}')


def set_value(rng, db):
    table, column, which = _place(rng, db)
    db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {which}', (_value(rng),))


def set_not_utf8(rng, db):
    table, column, which = _place(rng, db)
    raw = rng.choice((b"\xff\xfe", b"prefill \xcf\xee\xf2", b"\xed\xa0\x80", b"a\x80" * 50))
    db.execute(f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE {which}', (raw,))


def set_text(rng, db):
    column = rng.choice(("text", "value"))
    table = "NVTX_EVENTS" if column == "text" else "StringIds"
    step = rng.choice((1, 2, 5))
    db.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid % {step} = 0', (rng.choice(TEXTS),))


def swap_times(rng, db):
    table, _, which = _place(rng, db)
    db.execute(f'UPDATE "{table}" SET start = "end", "end" = start WHERE {which}')


def shift_times(rng, db):
    table, _, which = _place(rng, db)
    by = rng.choice((1, -1000, 10**6, -(10**9), 10**12, 2**62, -(2**62)))
    db.execute(f'UPDATE "{table}" SET start = start + {by} WHERE {which}')
    if rng.random() < 0.5:
        db.execute(f'UPDATE "{table}" SET "end" = "end" + {by} WHERE {which}')


def scale_times(rng, db):
    factor = rng.choice((0, -1, 2, 1000, 10**9))
    for table in _tables(db):
        if {"start", "end"} <= set(_columns(db, table)):
            db.execute(f'UPDATE "{table}" SET start = start * {factor}, "end" = "end" * {factor}')


def shuffle_column(rng, db):
    table, column, _ = _place(rng, db)
    rows = db.execute(f'SELECT rowid, "{column}" FROM "{table}" LIMIT 20000').fetchall()
    values = [row[1] for row in rows]
    rng.shuffle(values)
    pairs = [(value, row[0]) for value, row in zip(values, rows, strict=True)]
    db.executemany(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', pairs)


def double_rows(rng, db):
    table, _, which = _place(rng, db)
    columns = ", ".join(f'"{c}"' for c in _columns(db, table))
    db.execute(f'INSERT OR IGNORE INTO "{table}" SELECT {columns} FROM "{table}" WHERE {which}')


def delete_rows(rng, db):
    table, _, which = _place(rng, db)
    db.execute(f'DELETE FROM "{table}" WHERE {which}')


def empty_table(rng, db):
    db.execute(f'DELETE FROM "{_table(rng, db)}"')


def drop_table(rng, db):
    db.execute(f'DROP TABLE "{_table(rng, db)}"')


def drop_column(rng, db):
    table, column, _ = _place(rng, db)
    db.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')


def rename_column(rng, db):
    table, column, _ = _place(rng, db)
    name = rng.choice(("x", "start", "graphNodeId", 'a"b', "Ω"))
    db.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{name}"'.replace('a"b', 'a""b'))


def far_row_id(rng, db):
    table, _, _ = _place(rng, db)
    far = rng.choice((2**40, 2**62, -5, -(2**62)))
    db.execute(
        f'UPDATE "{table}" SET rowid = {far} WHERE rowid = (SELECT max(rowid) FROM "{table}")'
    )


def other_fact(rng, db):
    table = rng.choice(("META_DATA_EXPORT", "META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV"))
    db.execute(
        f"UPDATE {table} SET value = ? WHERE rowid % {rng.choice((1, 2, 3))} = 0", (_value(rng),)
    )


def many_processes(rng, db):
    table = rng.choice(READ[:6])
    for column in ("globalTid", "globalPid"):
        if column in _columns(db, table):
            db.execute(f"UPDATE {table} SET {column} = {column} + (rowid % 50 << 24)")


def one_id_for_all(rng, db):
    table = rng.choice(READ[:5])
    db.execute(f"UPDATE {table} SET correlationId = {rng.choice((0, 1, -1, 2**31, 2**62))}")


MUTATIONS = (
    *(set_null, set_value, set_value, set_value, set_not_utf8, set_text, swap_times, shift_times),
    *(scale_times, shuffle_column, double_rows, delete_rows, empty_table, drop_table, drop_column),
    *(rename_column, far_row_id, other_fact, many_processes, one_id_for_all),
)


def spoil_bytes(rng, data):
    """Bytes of a file with bits turned, a part cut off, zeroed, doubled or moved."""
    raw = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        way = rng.randrange(6)
        at = rng.randrange(len(raw))
        if way <= 2:  # most often single bytes; half of them where SQLite keeps its own
            at = rng.randrange(min(len(raw), 5000)) if rng.random() < 0.3 else at
            raw[at] = rng.randrange(256)
        elif way == 3:
            page = at - at % 4096
            raw[page + rng.randrange(12)] = rng.randrange(256)
        elif way == 4:
            other = rng.randrange(len(raw))
            raw[at : at + 4096] = raw[other : other + 4096]
        else:
            raw[at : at + 512] = bytes(len(raw[at : at + 512]))
    if rng.random() < 0.15:
        del raw[rng.randrange(1, len(raw)) :]
    return bytes(raw)


def packed(rng, data):
    """A file packed, and perhaps damaged after that; with the end of its name."""
    pack, end = rng.choice(((gzip.compress, ".gz"), (lzma.compress, ".xz"), (_zstd, ".zst")))
    whole = pack(data)
    return (spoil_bytes(rng, whole) if rng.random() < 0.8 else whole), end


def _zstd(data):
    import zstandard

    return zstandard.compress(data)
