"""All commands: these files fill the table, in the order in which `help` lists them."""

from . import moving  # noqa: F401, I001  first: its commands are listed first
from . import breakpoints, values, variables, info, looking  # noqa: F401
