"""Commands that a reader pastes, in bash and zsh: the words into which the shells split them, and what they print when they run."""

from __future__ import annotations

import re
import shutil
import subprocess

# Every command is recorded, programs as well as the builtins that would change the shell: the number of its words, then the words.
RECORD = """
record() { printf '%s\\0' $# "$@" >&9; }
for builtin in cd source . exit; do eval "$builtin() { record $builtin \\"\\$@\\"; }"; done
command_not_found_handle() { record "$@"; }
command_not_found_handler() { record "$@"; }
PATH=/nowhere
exec 9>&1
"""
# failglob makes bash as strict as zsh: a word with [ ] * or ? that matches no file is an error
SHELLS = {"bash": ["bash", "--norc", "--noprofile", "-O", "failglob", "-c"], "zsh": ["zsh", "-f", "-c"]}
INSTALLED = [name for name in SHELLS if shutil.which(name)]


def split(script: str) -> list[list[str]]:
    """The words of each command in a script; an AssertionError if the installed shells disagree."""
    single_quoted = re.sub(r"'[^']*'", "", script)
    assert not re.search(r"(^|\s)#", single_quoted, re.M), f"zsh takes no comments at its prompt: {script}"
    assert not re.search(r"!(?![\s=(])", single_quoted), f"a ! outside of single quotes recalls an earlier command: {script}"
    answers = [words(name, script) for name in INSTALLED]
    assert all(a == answers[0] for a in answers), f"{INSTALLED} disagree: {answers}"
    return answers[0]


def words(shell: str, script: str) -> list[list[str]]:
    """The words of each command, as one shell splits them."""
    done = subprocess.run([*SHELLS[shell], RECORD + script], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{shell} refuses a command: {done.stderr}{script}"
    fields = iter(done.stdout.split("\0")[:-1])
    return [[next(fields) for _ in range(int(count))] for count in fields]


def run(shell: str, script: str, env: dict[str, str]) -> tuple[int, str, str]:
    """Exit code and output of a script, whose first failing command ends it."""
    done = subprocess.run(
        [*SHELLS[shell], "set -e\n" + script], capture_output=True, text=True, env=env, timeout=300, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout, done.stderr
