"""A recorded launch, and the questions to it: see README.md of this folder."""

from .questions import Recording
from .recordings import Recordings, recording

__all__ = ["Recording", "Recordings", "recording"]
