"""Every instruction family, one module each: importing this package imports them all and so fills notation.FORMS."""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(m.name for m in iter_modules(__path__)):
    import_module(f".{_module}", __name__)
