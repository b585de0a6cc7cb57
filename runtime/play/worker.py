"""The process in which programs of the page run: `python -m warplab.runtime.play.worker`; it takes (job, arguments), see jobs.py."""

from __future__ import annotations

import pickle

from ..grading.worker import opened, receive, send
from .jobs import JOBS


def main() -> None:
    """Answers until the server closes the pipe."""
    source, answers = opened()
    while (message := receive(source)) is not None:
        name, arguments = pickle.loads(message)
        try:
            answer = JOBS[name](*arguments)
        except Exception as e:
            answer = {"error": f"internal error: {type(e).__name__}: {e}"}
        send(answers, answer)


if __name__ == "__main__":
    main()
