"""A figure: SVG that notebooks show, and a file of SVG or PNG."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import UsageError

Scheme = Literal["auto", "light", "dark"]
DARK = "(prefers-color-scheme: dark)"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
SHARPNESS = 2  # pixels of a PNG for each of the figure's
PATIENCE = 60  # seconds for the browser


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; `says` is what it shows, in a sentence."""

    svg: str
    says: str

    def _repr_svg_(self) -> str:
        """What notebooks show."""
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure: {self.says}>"

    def text(self, scheme: Scheme = "auto") -> str:
        """The SVG, in the colours of its reader's choice or of one scheme."""
        if scheme == "auto":
            return self.svg
        return self.svg.replace(f"@media {DARK}", "@media all" if scheme == "dark" else "@media not all")

    def save(self, path: str | Path, scheme: Scheme = "auto") -> None:
        """Writes the figure as its name ends: .svg, or .png, which a browser draws."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.text(scheme) + "\n", encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(self.png(scheme))
        else:
            raise UsageError(f"{path}: figures are written as .svg or .png")

    def png(self, scheme: Scheme = "auto") -> bytes:
        """The figure as pixels; it needs Chromium or Chrome on the PATH."""
        browser = next((found for name in BROWSERS if (found := shutil.which(name)) is not None), None)
        if browser is None:
            raise UsageError(f"PNG needs a browser on the PATH ({', '.join(BROWSERS)}); .svg needs none")
        size = SIZE.search(self.svg)
        assert size is not None
        width, height = (round(float(x)) for x in size.groups())
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "figure.html", Path(folder) / "figure.png"
            head = "<!DOCTYPE html><style>body { margin: 0 } svg { display: block }</style>"
            source.write_text(head + self.text("light" if scheme == "auto" else scheme), encoding="utf-8")
            drawing = [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--force-device-scale-factor={SHARPNESS}",
                f"--user-data-dir={folder}/profile", f"--window-size={width},{height}", f"--screenshot={out}", source.as_uri(),
            ]  # fmt: skip
            try:
                done = subprocess.run(drawing, capture_output=True, text=True, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                raise UsageError(f"{browser} did not draw the figure within {PATIENCE} seconds; .svg needs no browser") from None
            if not out.exists():
                last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
                raise UsageError(f"{browser} did not draw the figure: {last[0]}; .svg needs no browser")
            return out.read_bytes()
