"""A thread that is quiet leaves what others print alone."""

import threading

import pytest

from warplab.runtime.device.output import quiet, to_stderr, to_stdout


def test_another_thread_prints_while_one_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    silent, over = threading.Event(), threading.Event()

    def repeated() -> None:
        with quiet():
            silent.set()
            over.wait(10)
            to_stdout(b"again\n")
            to_stderr("again")

    thread = threading.Thread(target=repeated)
    thread.start()
    silent.wait(10)
    with quiet():
        to_stderr("twice")
    to_stdout(b"once\n")
    to_stderr("warning")
    over.set()
    thread.join()
    assert capfd.readouterr() == ("once\n", "warning\n")
