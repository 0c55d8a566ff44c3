"""How secrets look: one table of shapes, and what of a match is the secret.

Every pattern runs in linear time: a prefix stands first, what precedes a secret is bounded, and
nothing that may be long is followed by a condition. Lengths of tokens are lower than their issuers'
own, so that a shortened token does not pass.

Libraries such as detect-secrets look for lines of source code; an export's texts are ranges,
frames and messages, and what is found here has to be cut out, not only told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

REMOVED = "[removed]"
"""What stands in place of a secret in a text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of secret: the group ``secret`` of its pattern, or the whole match without one."""

    title: str
    pattern: re.Pattern[str]
    source: str
    """Who documents the shape."""
    everywhere: bool = False
    """It is a secret beyond doubt, which has to go wherever else it stands."""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets lie in a text."""
        group = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if not _HARMLESS.fullmatch(match[group]):
                yield match.span(group)


_HARMLESS = re.compile(
    r"[\"']?(?:(?i:true|false|none|null|auto|prefill|decode|mixed)|\d{1,4}|\[removed\].*|_+)[\"'\])},;>]*",
    re.DOTALL,
)
_NUMBER = re.compile(r"[\"']?[-+]?[\d.]+(?:[eE][-+]?\d+)?[\"'\])},;>]*")
_VALUE = r"(?:\"[^\"\n]+\"?|'[^'\n]+'?|[^\s\"'\x00-\x1f]+)"
_ANY_CASE = (
    r"(?i:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key"
    r"|credential|(?:auth|access|api|refresh|session|bearer|hf|hub|git(?:hub|lab)|wandb)[_-]?token)"
)
_UPPER = r"(?:(?<!COM)(?<!BY)PASS|(?<![A-Z])PWD|TOKEN(?!S\b)(?!IZ)|_KEY|_PAT|_AUTH|CREDS)"
_EQUALS = r"[\"']?[ \t]{0,4}(?:=(?!=)|(?<!:):(?!:))[ \t]{0,4}"
_PERSON = (
    r"(?<![A-Z_])(?:SUDO_USER|USER|USERNAME|LOGNAME|HOST|HOSTNAME|E?MAIL|COMPUTERNAME|USERDOMAIN"
    r"|HOME|USERPROFILE)="
)


def _shape(title: str, pattern: str, source: str, *, everywhere: bool = True) -> Shape:
    return Shape(title, re.compile(pattern, re.ASCII), source, everywhere)


SHAPES = (
    _shape(
        "a private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END[A-Z0-9 ]{0,40}-----|\Z)",
        "RFC 7468",
    ),
    _shape(
        "an HTTP credential",
        r"(?i:(?<![a-z])(?:authorization|(?:set-)?cookie|x-api-key)[\"']?[ \t]{0,4}[:=])"
        r"(?P<secret>[^\x00-\x08\n-\x1f]+)",
        "RFC 9110 and 6265",
    ),
    _shape(
        "a bearer token", r"(?i:(?<![a-z])bearer)[\s:=]{1,8}(?P<secret>[\w.~+/=-]{6,})", "RFC 6750"
    ),
    _shape(
        "a JSON web token",
        r"(?<![\w-])eyJ[\w-]{6,}+\.[\w-]{6,}+(?:\.[\w-]*+)?",
        "RFC 7519",
    ),
    _shape(
        "a token",
        r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_\w{12,}|npm_[A-Za-z0-9]{10,}"
        r"|hf_[A-Za-z0-9]{16,}|glpat-[\w-]{10,}|xox[abeprs]-[\w-]{10,}|nvapi-[\w-]{16,}"
        r"|pypi-[\w-]{16,}|dckr_pat_[\w-]{10,}|AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,}"
        r"|[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|sk-(?=[\w-]{0,64}\d)[\w-]{12,}|wandb_v\d_[\w-]{10,})",
        "token formats of GitHub, npm, Hugging Face, GitLab, Slack, NVIDIA, PyPI, Docker, Google, "
        "AWS, Stripe, OpenAI, Anthropic and Weights & Biases",
    ),
    _shape(
        "a password",
        rf"(?:{_ANY_CASE}|{_UPPER})[A-Za-z0-9_]{{0,40}}{_EQUALS}(?P<secret>{_VALUE})",
        "detect-secrets' keyword plugin, gitleaks' generic rule",
    ),
    _shape(
        "a password",
        r"(?<![\w-])--?[a-z0-9-]{0,40}(?:password|passwd|secret|token|api-?key|auth)[ =]{1,4}"
        rf"(?P<secret>{_VALUE})",
        "command lines",
    ),
    _shape(
        "a password",
        rf"(?<![A-Za-z])(?i:(?:[a-z0-9]{{0,20}}_)?(?:pass|pwd|token)){_EQUALS}(?P<secret>{_VALUE})",
        "connection strings, configuration files",
    ),
    _shape(
        "a password",
        r"(?<![\w-])(?:sshpass +-p *|(?:-u|--user)[ =]{1,4}(?=[^\s:]{1,64}:[^\s:]))"
        r"(?P<secret>[^\s\"']+)",
        "sshpass(1), curl(1)",
    ),
    _shape(
        "a login",
        r"(?<![\w.+-])[\w.+-]{1,64}:[^\s:@/\"'<>]{1,128}@[\w-][\w.-]{0,250}",
        "RFC 3986, userinfo",
    ),
    _shape(
        "an e-mail address",
        r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}"
        r"(?![\w])",
        "RFC 5322",
    ),
    _shape(
        "a login",
        r"(?<![\w.+@?/-])[A-Za-z_][\w.-]{0,31}@(?!lib|plt\b)(?:[A-Za-z][A-Za-z0-9.-]{0,62}"
        r"|\d{1,3}(?:\.\d{1,3}){3})(?![\w@])",
        "ssh(1)",
        everywhere=False,
    ),
    _shape(
        "a password",
        r"(?i:(?<![A-Za-z_])(?:password|passwd|passphrase))[ \t]{1,4}(?:(?:is|was)[ \t]{1,4})?"
        r"(?P<secret>[^\s\"'=:]{3,})",
        "log lines",
        everywhere=False,
    ),
    _shape(
        "an internal address",
        r"(?<![\w.:-])(?:(?:10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254)(?:\.\d{1,3}){2}"
        r"(?![\w.])|\d{1,3}(?:\.\d{1,3}){3}(?=:\d{2,5}(?!\w)))",
        "RFC 1918 and 3927",
        everywhere=False,
    ),
    _shape(
        "an internal address",
        r"(?<![\w:])(?i:f[cd][0-9a-f]{2}|fe80):(?i:[0-9a-f]{0,4}:){1,7}(?i:[0-9a-f]{0,4})(?![\w:])",
        "RFC 4193 and 4291",
        everywhere=False,
    ),
    _shape(
        "a path in percent signs",
        r"[\w.~+:-]{0,64}%(?i:2f|5c|3a)(?:[\w.~+:/\\-]|%[0-9A-Fa-f]{2})*",
        "RFC 3986",
        everywhere=False,
    ),
    _shape("a name", rf"{_PERSON}(?P<secret>{_VALUE})", "environ(7)", everywhere=False),
    _shape(
        "a name",
        rf"(?<![A-Za-z_])(?:user(?:_?name)?|login|host_?name) ?= ?(?P<secret>{_VALUE})",
        "log lines",
        everywhere=False,
    ),
)

_ASSIGNMENT = re.compile(
    rf"(?<![A-Za-z0-9_<])[A-Z][A-Z0-9_]{{2,80}}(?:(?P<equals>=)|\"[ \t]{{0,4}}:[ \t]{{0,4}}(?=\"))"
    rf"(?P<secret>{_VALUE})",
    re.ASCII,
)
_ENVIRONMENT_SIZE = 3
_LINE_OF_ENVIRONMENT = re.compile(r"(?:^|\0)[A-Z][A-Z0-9_]{2,80}=", re.MULTILINE | re.ASCII)


def is_environment(text: str) -> bool:
    """Whether a text lists environment variables, one a line (or ended by zeros)."""
    lines = _LINE_OF_ENVIRONMENT.finditer(text)
    return (
        sum(1 for _, _ in zip(lines, range(_ENVIRONMENT_SIZE), strict=False)) == _ENVIRONMENT_SIZE
    )


def find_assignments(text: str) -> list[tuple[int, int]]:
    """Values of variables; numbers stay, and phases. A dictionary is one where it has several."""
    found = list(_ASSIGNMENT.finditer(text))
    several = len(found) >= _ENVIRONMENT_SIZE
    return [
        m.span("secret")
        for m in found
        if (several or m["equals"])
        and not any(kept.fullmatch(m["secret"]) for kept in (_HARMLESS, _NUMBER))
    ]
