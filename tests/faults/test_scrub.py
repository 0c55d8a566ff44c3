"""Exports with secrets in odd places: nothing of them is left in the copy, and figures stay."""

import contextlib
import lzma
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from typed import run

from launchlens.errors import TraceError
from launchlens.metrics import summarize
from launchlens.trace import find_secrets, read_trace, scrub_trace
from launchlens.trace.formats.nsys.private import Cleaner

TRACES = Path(__file__).parents[2] / "traces"
DATA = Path(__file__).parent / "data"
HOMES = "/".join(("", "home"))
"""The folder of home folders, in parts: no path of a machine stands in this file."""


def plain(name, folder):
    path = folder / f"{name}.sqlite"
    path.write_bytes(lzma.decompress((DATA / f"{name}.sqlite.xz").read_bytes()))
    return path


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db:
        for sql, values in statements:
            db.execute(sql, values)
        db.commit()


def mark(value, start=1):
    """An NVTX mark beside the steps, so that no figure depends on it."""
    column = "binaryData" if isinstance(value, bytes) else "text"
    sql = f"INSERT INTO NVTX_EVENTS (start, eventType, globalTid, {column}) VALUES (?, 34, 1, ?)"
    return sql, (start, value)


def holds(path, word):
    """Whether a word stands anywhere in a file, in one of the encodings of a text."""
    raw = path.read_bytes().lower()
    return any(word.lower().encode(e) in raw for e in ("utf-8", "utf-16-le", "utf-16-be"))


@pytest.mark.parametrize("name", ["windows-paths", "scrub-leaks"])
def test_nothing_of_the_canary_is_left_and_figures_stay(name, tmp_path):
    trace, out = plain(name, tmp_path), tmp_path / "out.sqlite"
    assert holds(trace, "canary")
    done = run("scrub", trace, out)
    assert done.returncode == 0, done.stderr
    assert not holds(out, "canary")
    before, after = summarize(read_trace(trace)), summarize(read_trace(out))
    assert [s.launches for s in before.steps] == [s.launches for s in after.steps]
    assert [s.busy_ns for s in before.steps] == [s.busy_ns for s in after.steps]


def test_text_that_is_not_utf8_is_scrubbed_and_stays(tmp_path):
    trace, out = plain("export-metadata-not-utf8", tmp_path), tmp_path / "out.sqlite"
    odd = b"prefill \xcf\xee\xf2\xf3\xe6"
    edit(
        trace,
        ("UPDATE TARGET_INFO_GPU SET chipName = CAST(? AS TEXT)", (b"GH\xff",)),
        ("INSERT INTO META_DATA_CAPTURE VALUES (CAST(? AS TEXT), 'x')", (b"\xcf:HOST",)),
        (
            "INSERT INTO NVTX_EVENTS (start, eventType, text) VALUES (1, 34, CAST(? AS TEXT))",
            (odd + b" C:\\Users\\\xe0canary\\m.py",),
        ),
    )
    done = run("scrub", trace, out)
    assert done.returncode == 0, done.stderr
    assert not holds(out, "canary")
    with contextlib.closing(sqlite3.connect(out)) as db:
        db.text_factory = bytes
        assert db.execute("SELECT chipName FROM TARGET_INFO_GPU").fetchone() == (b"GH\xff",)
        texts = [row[0] for row in db.execute("SELECT text FROM NVTX_EVENTS WHERE start = 1")]
    assert texts == [odd + b" m.py"]
    steps = summarize(read_trace(out)).steps
    assert [(s.launches, s.kernels, s.busy_ns, s.idle) for s in steps] == [
        (5, 5, 25_000, 0.875)
    ] * 3


@pytest.mark.parametrize(
    "secret",
    [
        "C:\\Users\\canary\\proj\\model.py",
        "C:/Users/canary",
        "c:\\users\\canary",
        "\\\\canary\\share",
        "\\\\?\\C:\\Users\\canary\\a b\\x.dll",
        '"C:\\\\Users\\\\canary\\\\x.py"',
        f"{HOMES}/canary",
        "/workspace/canary/",
        f"{HOMES}/#canary (1)/x.py",
        "/data/a,canary=(b)/x.bin",
        f"f(x){HOMES}/canary/y",
        f"it's {HOMES}/o'canary/x",
        "/mnt/canary dir with many words/x",
        "~canary/x/y.py",
        "../canary/x/y.py",
        f"file://{HOMES}/canary/x",
        "https://canary:canary@host/x?token=canary",
        "http://canary:8000/v1",
        "bob:canary@db.host:5432/x",
        "canary@corp.example.com",
        "Bearer canaryjwt",
        "authorization: Basic canary==",
        "eyJcanaryaa.eyJcanarybb.canary",
        "npm_canaryabcdef1234567",
        "ghp_canary1234567",
        "glpat-canary1234567",
        "DB_PASS=canary",
        "PGPASSWORD=canary",
        "db_pass: canary",
        "Server=x;Uid=sa;Pwd=canary",
        "token:canary",
        "wandb_v1_canary1234",
        "sshpass -p canary ssh host",
        "curl -u bob:canary http://x",
        "AWS_SECRET_ACCESS_KEY=canary",
        "{'HF_TOKEN': 'canary', 'A': 1}",
        '"password": "canary x"',
        "--api-key canary",
        "user=canary",
        "HOSTNAME=canary",
        "FOO=canary BAR=canary BAZ=canary",
        "MY_DATASET=canary",
        "COMPASS=canary",
        "export WANDB_ENTITY=canary",
        "%2Fdata%2Fcanary%2Fx.py",
        "file%3A%2F%2F%2Fdata%2Fcanary%2Fx",
        "C%3A%5CUsers%5Ccanary",
        "canary@node17",
        "ssh canary@10.1.2.3",
        "CORP\\canary",
        "corp\\canary",
        "C:canary\\x",
        "D:dir\\canary\\x.py",
        "proj\\canary\\x.py",
        "~canary/x",
        "password canary",
        "Passphrase is canary",
        "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_goes_from_texts_and_payloads_of_any_encoding(secret, tmp_path):
    trace, out = plain("windows-paths", tmp_path), tmp_path / "out.sqlite"
    wide, wide_at_odd = secret.encode("utf-16-be"), b"\x01\x02\x03" + secret.encode("utf-16-le")
    edit(
        trace,
        mark(f"before {secret}"),
        mark(b"\x01\0" + secret.encode() + b"\0\x0c\0", 2),
        mark(wide_at_odd + b"\0\0", 3),
        mark(wide, 4),
        mark(secret.encode().hex(), 5),
    )
    scrub_trace(trace, out)
    assert not holds(out, "canary")
    assert secret.encode().hex() not in out.read_bytes().decode("latin-1")
    assert find_secrets(out) == []
    with contextlib.closing(sqlite3.connect(out)) as db:
        rows = db.execute("SELECT binaryData FROM NVTX_EVENTS WHERE start IN (3, 4) ORDER BY start")
        assert [len(r[0]) for r in rows] == [len(wide_at_odd) + 2, len(wide)]


@pytest.mark.parametrize(
    "text",
    [
        "void ns::kernel<a / b>(int)",
        "operator/(int)",
        "a/b/c",
        "execute_context_1(128)_generation_0(0)",
        "max_tokens=128 tokens: 12 MAX_TOKENS=4096",
        "forward_pass=3 PASS=2",
        "BATCH=1 SEQ=128 STEP=4",
        "at::native::secret::foo",
        "triton_poi_fused_token_add_0",
        "secret_model.py:12",
        "hf_quantized_matmul_kernel",
        "memcpy@GLIBC_2.2.5",
        "?foo@bar@@YAXXZ",
        "COMPASS=3",
        "PHASE=prefill",
        "bit/count[64]~Foo()",
        "ns::Foo::~Foo() const",
        "fd00::kernel<1>",
        "face::detect",
        "TensorRT-LLM 10.0.0 cuda-12.4.1",
        "libcublas.so.12.4.5.8",
        "a\\nb\\tc",
        "cublasLt@@libcublasLt.so.12",
        "memcpy@plt",
        "100%",
        "kernel[grid=(10, 1), block=(172, 16)]",
        "lambda x: x @ y",
    ],
)
def test_what_only_resembles_a_secret_stays(text, tmp_path):
    trace, out = plain("windows-paths", tmp_path), tmp_path / "out.sqlite"
    edit(trace, mark(text))
    scrub_trace(trace, out)
    with contextlib.closing(sqlite3.connect(out)) as db:
        assert db.execute("SELECT text FROM NVTX_EVENTS WHERE start = 1").fetchone() == (text,)


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("Hostname", "box-canary17.corp.example"),
        ("UserName", "canary-user"),
        ("DeviceEnvironment", "LANG=C\nUSER=canary-user\nHOSTNAME=box-canary17"),
    ],
)
def test_names_of_host_and_user_go_wherever_they_stand(fact, value, tmp_path):
    trace, out = plain("export-metadata-not-utf8", tmp_path), tmp_path / "out.sqlite"
    word = "box-canary17" if "box" in value else "canary-user"
    row = (1, "Local (CLI)", fact, 1, value)
    edit(
        trace,
        ("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, ?, ?, ?, ?)", row),
        mark(f"work of {word.upper()} on rank 0"),
        mark(b"\x01\x02" + word.encode("utf-16-le"), 2),
    )
    scrub_trace(trace, out)
    assert not holds(out, word)
    with contextlib.closing(sqlite3.connect(out)) as db:
        (text,) = db.execute("SELECT text FROM NVTX_EVENTS WHERE start = 1").fetchone()
    assert text == "work of [removed] on rank 0"


def test_a_user_that_is_named_as_a_library_is_does_not_rename_its_kernels(tmp_path):
    trace, out = plain("export-metadata-not-utf8", tmp_path), tmp_path / "out.sqlite"
    edit(trace, mark(f"{HOMES}/vllm/x.py", 2), mark("vllm::rms_norm_kernel"))
    scrub_trace(trace, out)
    with contextlib.closing(sqlite3.connect(out)) as db:
        found = db.execute("SELECT text FROM NVTX_EVENTS WHERE start = 1").fetchone()
    assert found == ("vllm::rms_norm_kernel",)


def test_a_refusal_names_the_place_and_not_the_value(tmp_path, monkeypatch, capsys):
    from launchlens.cli.main import main

    trace, out = plain("scrub-leaks", tmp_path), tmp_path / "out.sqlite"
    monkeypatch.setattr(Cleaner, "value", lambda _, value: value)
    monkeypatch.setattr(sys, "argv", ["launchlens", "scrub", str(trace), str(out)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert "NVTX_EVENTS.text, row" in said
    assert "canary" not in said.lower()
    assert [p.name for p in tmp_path.iterdir()] == ["scrub-leaks.sqlite"]


def test_a_trigger_does_not_write_back_what_is_removed(tmp_path):
    trace, out = plain("scrub-leaks", tmp_path), tmp_path / "out.sqlite"
    edit(
        trace,
        ("CREATE TABLE copies (text)", ()),
        (
            "CREATE TRIGGER back AFTER UPDATE ON NVTX_EVENTS BEGIN "
            "INSERT INTO copies VALUES (old.text); END",
            (),
        ),
        ("CREATE VIEW seen AS SELECT 'canary' AS x", ()),
    )
    scrub_trace(trace, out)
    assert not holds(out, "canary")


@pytest.mark.parametrize(
    "part",
    [
        *(
            "A",
            "TOKEN",
            "/a",
            " /a b",
            "C:\\",
            "\\",
            "eyJaaaaaaaa-",
            "a@",
            "KEY_=a ",
            "ABC=",
            "--a",
        ),
        *("http://", "../", "-----BEGIN PRIVATE KEY-----", "/home/", "A\0", "/site-packages", "ab"),
    ],
)
def test_a_long_text_takes_no_longer_for_each_of_its_letters(part, tmp_path):
    trace, out = plain("export-metadata-not-utf8", tmp_path), tmp_path / "out.sqlite"
    text = part * (300_000 // len(part))
    edit(trace, mark(text), mark(text.encode(), 2))
    begin = time.monotonic()
    scrub_trace(trace, out)
    find_secrets(out)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    "address",
    ["10.31.4.7", "172.16.0.9", "172.31.255.1", "192.168.1.20", "fd00::12", "fd12:3456:789a::1"],
)
def test_internal_addresses_go(address, tmp_path):
    trace, out = plain("windows-paths", tmp_path), tmp_path / "out.sqlite"
    edit(trace, mark(f"rank 1 at {address}, port 5"), mark(address.encode(), 2))
    scrub_trace(trace, out)
    assert not holds(out, address)
    assert texts_at(out, 1) == ["rank 1 at [removed], port 5"]


@pytest.mark.parametrize("address", ["172.32.0.9", "11.0.0.1", "2025.3.1.90", "580.65.06"])
def test_versions_stay(address, tmp_path):
    trace, out = plain("windows-paths", tmp_path), tmp_path / "out.sqlite"
    edit(trace, mark(f"driver {address}"))
    scrub_trace(trace, out)
    assert texts_at(out, 1) == [f"driver {address}"]


def test_what_is_a_secret_in_one_place_goes_from_all(tmp_path):
    trace, out = plain("windows-paths", tmp_path), tmp_path / "out.sqlite"
    edit(trace, mark("DB_PASSWORD=walnut-4711"), mark("load(walnut-4711) twice", 2))
    scrub_trace(trace, out)
    assert not holds(out, "walnut-4711")
    assert texts_at(out, 2) == ["load([removed]) twice"]


def texts_at(path, start):
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "SELECT text FROM NVTX_EVENTS WHERE start = ? AND text IS NOT NULL", (start,)
        )
        return [row[0] for row in rows]


@pytest.mark.parametrize("trace", sorted(TRACES.glob("*.sqlite.xz")), ids=lambda p: p.name)
def test_names_of_kernels_and_ranges_of_real_traces_stay_as_they_are(trace):
    cleaner = Cleaner(None)
    read = read_trace(trace)
    texts = {*read.strings, *read.api.names, *read.ranges.texts}
    assert len(texts) > 5
    assert {text for text in texts if cleaner.text(text) != text} == set()
    assert not cleaner.secrets


class TestSecondLook:
    """What is looked for after scrubbing does not share the rules of what scrubs."""

    @pytest.fixture(autouse=True)
    def _nothing_is_cleaned(self, monkeypatch):
        monkeypatch.setattr(Cleaner, "value", lambda _, value: value)
        monkeypatch.setattr("launchlens.trace.formats.nsys.left.SHAPES", ())

    def left(self, tmp_path, *marks):
        trace, out = plain("baseline", tmp_path), tmp_path / "out.sqlite"
        edit(trace, *(mark(text, i) for i, text in enumerate(marks)))
        scrub_trace(trace, out)
        return find_secrets(out)

    def test_tokens_are_found_by_another_library(self, tmp_path):
        made_up = "ghp_" + "aB3d" * 9
        (said,) = self.left(tmp_path, f"clone with {made_up}")
        assert said.startswith("NVTX_EVENTS.text, row ")
        assert said.endswith(": GitHub Token")

    def test_values_of_the_environment_and_names_of_this_machine(self, tmp_path, monkeypatch):
        monkeypatch.setenv("MADE_UP", "wandering-otter-31")
        monkeypatch.setattr("socket.gethostname", lambda: "gpu-box-17.example.org")
        said = self.left(tmp_path, "load wandering-otter-31", "rank 0 of GPU-BOX-17", "box-17")
        assert [line.split(": ", 1)[1].split(" (")[0] for line in said] == [
            "the value of the environment variable MADE_UP",
            "the name of this machine or its user",
        ]
        assert not any("otter" in line or "box" in line for line in said)

    def test_payloads_are_searched_too(self, tmp_path, monkeypatch):
        monkeypatch.setenv("MADE_UP", "wandering-otter-31")
        wide = b"\x01" + "wandering-otter-31".encode("utf-16-le")
        said = self.left(tmp_path, wide)
        assert any("MADE_UP" in line for line in said)

    def test_what_was_removed_is_nowhere_else(self, tmp_path, monkeypatch):
        def forgetful(self, value):
            self.secrets.add("canary-4711")
            return value

        monkeypatch.setattr(Cleaner, "value", forgetful)
        monkeypatch.setattr(Cleaner, "without_secrets", lambda self: Cleaner(None))
        with pytest.raises(TraceError, match=r"NVTX_EVENTS.text, row \d+: what was removed"):
            self.left(tmp_path, "load(canary-4711) twice")
