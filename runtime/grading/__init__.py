"""Grading: a lab's tests on untrusted submissions, each in a process that is watched and ended when it takes too much.

load_lab(folder) -> Lab; find_submissions(lab, paths) -> Submissions; grade(lab, submissions, jobs) yields one Report for each.
"""

from .lab import Lab, LabTest, Limits, Submission, find_submissions, load_lab
from .report import Report, TestReport
from .supervise import grade

__all__ = ["Lab", "LabTest", "Limits", "Report", "Submission", "TestReport", "find_submissions", "grade", "load_lab"]
