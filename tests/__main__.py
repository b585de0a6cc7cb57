"""One command for every check: format, lint, types, tests.  It says beforehand what it will do, and afterwards how each check went.

`python -m tests` runs everything; arguments go to pytest: `python -m tests tests/isa -k add`.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time

# name: (command, what it does, about how long it takes on two cores)
CHECKS = {
    "format": (["ruff", "format", "--check", "--quiet", "."], "the layout of the code", "1 s"),
    "lint": (["ruff", "check", "--quiet", "."], "common mistakes", "1 s"),
    # on all cores; after the dots that show the progress, -r s lists the tests that were skipped, and why
    "tests": (
        ["pytest", "-n", "auto", "--dist", "worksteal", "-r", "s", *sys.argv[1:]],
        " ".join(sys.argv[1:]) or "all tests",
        "less than 7 min for all",
    ),
    "types": (["mypy"], "the types of warplab's own code, beside the tests", "no longer than they"),
}


def command(name: str) -> list[str]:
    """What runs a check."""
    return [sys.executable, "-m", *CHECKS[name][0]]


def main() -> int:
    missing = [name for name in ("ruff", "mypy", "pytest", "xdist", "hypothesis") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} not installed; first run: pip install -e '.[test]'", file=sys.stderr)
        return 2
    print("Four checks" + (", about seven minutes on two cores:" if len(sys.argv) == 1 else ":"))
    for name, (_, what, duration) in CHECKS.items():
        print(f"  {name:8} {what} ({duration})")
    results = []
    with tempfile.TemporaryFile("w+") as told, subprocess.Popen(command("types"), stdout=told, stderr=subprocess.STDOUT) as types:
        for name in CHECKS:
            print(f"\n== {name}: {' '.join(CHECKS[name][0])}", flush=True)
            start = time.monotonic()
            if name == "types":  # it has run beside the tests
                code = types.wait()
                told.seek(0)
                print(told.read(), end="")
            else:
                code = subprocess.run(command(name)).returncode
            results.append((name, code, time.monotonic() - start))
    print()
    for name, code, seconds in results:
        print(f"{name:8} {'ok' if code == 0 else 'FAILED'}  {seconds:.0f} s")
    return 1 if any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
