"""One command for every check: format, lint, types, tests; says how each went and fails if one did."""

import subprocess
import sys
import time

CHECKS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "types": ["mypy"],
    "tests": ["pytest", "-n", "auto", "--dist", "worksteal", *sys.argv[1:]],
}


def main() -> int:
    results = []
    for name, command in CHECKS.items():
        print(f"== {name}: {' '.join(command)}", flush=True)
        start = time.monotonic()
        code = subprocess.run([sys.executable, "-m", *command]).returncode
        results.append((name, code, time.monotonic() - start))
    print()
    for name, code, seconds in results:
        print(f"{name:8} {'ok' if code == 0 else 'FAILED'}  {seconds:.0f} s")
    return 1 if any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
