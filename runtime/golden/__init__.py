"""Golden-output tests: PTX files that say in `//@` comments what should come of them, or in `// CHECK:` lines what a tool prints.

collect(paths) gives Cases, run_case(case) a Result; the command `warplab test` and the pytest plugin stand on these two.
"""

from .collect import Case, collect
from .execute import Result, run_case

__all__ = ["Case", "Result", "collect", "run_case"]
