"""The pull-request comment against a local server that speaks GitHub's endpoints."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from fake_github import HEAD, TOKEN, FakeGitHub

from launchlens.errors import UsageError
from launchlens.forge import ForgeError, make_marker, open_change, post_comment
from launchlens.forge.forges.github.client import PullRequestOnGitHub
from launchlens.forge.forges.github.token import find_api_url, find_token

MARKER = make_marker("gemma-4-e4b")
BODY = f"{MARKER}\nlaunches 3828 → 1"
COMMENTS = "/issues/7/comments"


@pytest.fixture
def fake():
    server = FakeGitHub()
    yield server
    server.close()


def forge(fake, **changes):
    settings = {"token": TOKEN, "api_url": fake.url, "backoff_s": 0.01, "longest_wait_s": 2.0}
    return PullRequestOnGitHub("o/r", 7, **settings | changes)


def post(fake, body=BODY, **changes):
    return post_comment(forge(fake, **changes), body, MARKER)


def test_creates_then_updates_the_same_comment(fake):
    first = post(fake)
    assert (first.action, fake.bodies()) == ("created", [BODY])
    second = post(fake, f"{MARKER}\nlaunches 3828 → 2")
    assert second.action == "updated"
    assert second.url == first.url
    assert fake.bodies() == [f"{MARKER}\nlaunches 3828 → 2"]


def test_the_same_body_again_changes_nothing(fake):
    post(fake)
    assert post(fake).action == "unchanged"
    assert fake.count("PATCH", "") == 0


def test_finds_its_comment_on_the_second_page(fake):
    for number in range(130):
        fake.add(f"talk {number}", "somebody")
    mine = fake.add(f"{MARKER}\nold")
    fake.add("more talk", "somebody")
    assert post(fake).action == "updated"
    assert mine["body"] == BODY
    assert len(fake.comments) == 132


def test_comments_of_others_are_left_alone(fake):
    others = [
        fake.add(f"{MARKER}\nanother's", "somebody"),
        fake.add(f"> {MARKER}\nquoted by the same user"),
        fake.add(f"{make_marker('other')}\nanother key"),
        fake.add(f"{MARKER}\na deleted account", None),
        fake.add("no marker"),
    ]
    before = [c["body"] for c in others]
    assert post(fake).action == "created"
    assert fake.bodies() == [*before, BODY]


def test_an_apps_token_knows_its_bot(fake):
    fake.is_app, fake.login = True, "github-actions"
    fake.add(f"{MARKER}\nimpostor", "github-actions", "User")
    fake.add(f"{MARKER}\nanother bot", "dependabot[bot]", "Bot")
    assert post(fake).action == "created"
    assert post(fake, f"{MARKER}\nnew").action == "updated"
    assert fake.bodies()[2:] == [f"{MARKER}\nnew"]
    assert fake.bodies()[:2] == [f"{MARKER}\nimpostor", f"{MARKER}\nanother bot"]


RATE = {"message": "API rate limit exceeded for user ID 1."}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


def test_a_short_rate_limit_is_waited_for(fake):
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()))}
    fake.fail("GET", COMMENTS, (403, reset, RATE))
    assert post(fake).action == "created"


@pytest.mark.parametrize("status", [403, 429])
def test_retry_after_is_honoured(fake, status):
    fake.fail("POST", COMMENTS, (status, {"Retry-After": "1"}, SECONDARY))
    began = time.monotonic()
    assert post(fake).action == "created"
    assert time.monotonic() - began >= 1
    assert fake.bodies() == [BODY]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"X-RateLimit-Reset": "99999999999"}, RATE),
        ({"Retry-After": "3600"}, SECONDARY),
        ({"Retry-After": "3600"}, RATE),
    ],
)
def test_a_long_rate_limit_is_an_error_not_a_hang(fake, headers, body):
    fake.fail("GET", COMMENTS, (403, headers, body))
    with pytest.raises(ForgeError, match="rate limit"):
        post(fake)


def test_server_errors_are_tried_again(fake):
    fake.fail("GET", COMMENTS, (502, {}, {}), (500, {}, {}))
    fake.fail("POST", COMMENTS, (503, {}, {}))
    assert post(fake).action == "created"
    assert fake.bodies() == [BODY]


def test_a_server_that_stays_broken_is_one_sentence(fake):
    fake.fail("GET", COMMENTS, *[(502, {}, {})] * 20)
    with pytest.raises(ForgeError, match=r"server errors.*Try again later"):
        post(fake)


def test_a_dropped_connection_is_tried_again(fake):
    fake.fail("GET", COMMENTS, "drop")
    fake.fail("POST", COMMENTS, "drop")
    assert post(fake).action == "created"
    assert fake.bodies() == [BODY]


def test_a_lost_answer_leaves_no_duplicate(fake):
    fake.fail("POST", COMMENTS, "lost")  # GitHub did create it
    posted = post(fake)
    assert posted.removed == 1
    assert fake.bodies() == [BODY]


def test_no_connection_is_one_sentence(fake):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ForgeError, match="could not be reached"):
            post(fake, api_url=url)


def test_two_runs_at_once_make_no_duplicate(fake):
    fake.barrier = threading.Barrier(2)  # both list before either creates
    bodies = [f"{MARKER}\nrun {number}" for number in (1, 2)]
    results, threads = [], []
    for body in bodies:
        thread = threading.Thread(target=lambda b=body: results.append(post(fake, b)))
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join(20)
    assert fake.count("POST", COMMENTS) == 2
    assert len(fake.comments) == 1
    assert fake.bodies()[0] in bodies
    assert len({r.url for r in results}) == 1


def test_old_duplicates_are_cleared_away(fake):
    for number in range(3):
        fake.add(f"{MARKER}\n{number}")
    assert post(fake).removed == 2
    assert [c["id"] for c in fake.comments] == [100]


@pytest.mark.parametrize(
    ("method", "suffix", "answer", "said"),
    [
        ("GET", "/user", (401, {}, {"message": "Bad credentials"}), "token was refused"),
        ("GET", "/pulls/7", (404, {}, {"message": "Not Found"}), "not found"),
        (
            "POST",
            COMMENTS,
            (403, {}, {"message": "Resource not accessible by integration"}),
            "pull-requests: write",
        ),
        ("POST", COMMENTS, (422, {}, {"message": "Body is too long"}), "too long"),
    ],
)
def test_refusals_are_one_sentence(fake, method, suffix, answer, said):
    fake.fail(method, suffix, answer)
    with pytest.raises(ForgeError, match=said):
        post(fake)


def test_the_token_is_never_shown(fake, capfd, caplog):
    caplog.set_level("DEBUG")
    leak = {"message": f"refused {TOKEN}"}
    fake.fail("POST", COMMENTS, (422, {}, leak))
    made = forge(fake)
    with pytest.raises(ForgeError) as caught:
        post_comment(made, BODY, MARKER)
    shown = "".join([str(caught.value), repr(caught.value), repr(made), *capfd.readouterr()])
    assert TOKEN not in shown
    # PyGithub logs requests at DEBUG, with the header blacked out.
    assert f"token {TOKEN}" not in caplog.text


def test_head_of_the_pull_request(fake):
    assert forge(fake).read_head() == HEAD


@pytest.mark.parametrize(("repo", "pr"), [("o", 1), ("o/r/x", 1), ("o/r?x", 1), ("o/r", 0)])
def test_targets_that_make_no_sense(repo, pr):
    with pytest.raises(UsageError):
        open_change(repo, pr)


def test_no_token_and_unsafe_addresses_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="GITHUB_TOKEN"):
        find_token("https://api.github.com", {})
    with pytest.raises(UsageError, match="unencrypted"):
        find_api_url({"GITHUB_API_URL": "http://ghe.test/api/v3"})
    with pytest.raises(UsageError, match="no address"):
        find_api_url({"GITHUB_API_URL": "ghe.test"})


def test_api_url_and_token_of_the_environment_are_used(fake, monkeypatch):
    monkeypatch.setenv("GITHUB_API_URL", fake.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    assert post_comment(open_change("o/r", 7), BODY, MARKER).action == "created"


def test_token_of_the_environment():
    api = "https://api.github.com"
    assert find_token(api, {"GH_TOKEN": "b"}) == "b"
    assert find_token(api, {"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}) == "a"
    assert find_token(api, {"GITHUB_TOKEN": " ", "GH_TOKEN": "b"}) == "b"


def test_markers_cannot_be_broken_out_of():
    assert make_marker("a --> <b>") == "<!-- launchlens:comment:a-b -->"
    assert make_marker("--") == "<!-- launchlens:comment:default -->"


@pytest.mark.parametrize(
    ("api", "script", "expected"),
    [
        ("api.github.com", '[ "$*" = "auth token --hostname github.com" ] && echo gho_a', "gho_a"),
        ("ghe.test/api/v3", '[ "$*" = "auth token --hostname ghe.test" ] && echo gho_b', "gho_b"),
        ("api.github.com", "echo 'not logged in' >&2; exit 1", None),
        ("api.github.com", "true", None),
    ],
)
def test_token_of_gh(tmp_path, monkeypatch, api, script, expected):
    gh = tmp_path / "gh"
    gh.write_text(f"#!/bin/sh\n{script}\n")
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if expected:
        assert find_token(f"https://{api}", {}) == expected
    else:
        with pytest.raises(UsageError, match="no token"):
            find_token(f"https://{api}", {})


PAGE = b"<!doctype html><title>Sign in</title>::error::proxy\n\x1b[31m"
ODD = {
    "html": (200, {"Content-Type": "text/html"}, PAGE),
    "html named json": (200, {}, PAGE),
    "bad json": (200, {}, b'{"id": 1, "sha'),
    "nothing": (200, {}, b""),
    "null": (200, {}, None),
    "a number": (200, {}, 7),
    "a list": (200, {}, [1, 2]),
    "an empty object": (200, {}, {}),
    "other types": (200, {}, {"id": "x", "login": 7, "head": "no", "user": 1, "html_url": []}),
    "not utf-8": (200, {}, b"\xff\xfe\x00{"),
    "deep json": (200, {}, b"[" * 200_000),
    "redirect elsewhere": (302, {"Location": "https://evil.example/"}, {}),
    "redirect to a path": (301, {"Location": "/elsewhere"}, {}),
    "redirect to nothing": (302, {}, {}),
    "permanent redirect": (308, {"Location": "http://127.0.0.1:1/"}, {}),
    "teapot": (418, {"Content-Type": "text/html"}, PAGE),
    "error of html": (422, {"Content-Type": "text/html"}, PAGE * 100),
    "error of odd json": (422, {}, {"message": ["x"], "errors": 3}),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("method", "suffix"),
    [("GET", "/user"), ("GET", "/pulls/7"), ("GET", COMMENTS), ("POST", COMMENTS), ("PATCH", "")],
)
def test_odd_answers_are_one_sentence(fake, method, suffix, odd):
    if method == "PATCH":
        fake.add(f"{MARKER}\nold")
    fake.fail(method, suffix, *[ODD[odd]] * 9)
    target = forge(fake)
    try:
        target.read_head()
        posted = post_comment(target, BODY, MARKER)
    except ForgeError as error:
        said = str(error)
    else:  # an answer that tells nothing, where nothing is needed
        said = posted.url
        assert suffix == COMMENTS
        assert method == "GET"
    assert len(said) < 600
    assert not set("\x1b\n") & set(said)
    assert TOKEN not in said
    assert "evil.example" not in said or "redirect" in said
