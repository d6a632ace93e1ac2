"""Colours: one per class, the same everywhere, told apart by colour-blind readers and, with its shape, in grey.

The hues are those of Okabe and Ito (2008), lightened for dark paper. Colour is never the only sign: classes also have
a shape and their name, evidence is also thick.
"""

from __future__ import annotations

from dataclasses import dataclass

from protgnn.errors import ProtGNNError

SHAPES = ("circle", "square", "triangle", "diamond", "cross", "bar", "ring", "frame")


@dataclass(frozen=True)
class Theme:
    """What things are painted with; any CSS colour will do."""

    name: str
    paper: str
    ink: str
    muted: str
    faint: str
    line: str
    panel: str
    warning: str
    classes: tuple[str, ...]

    def of_class(self, label: int) -> str:
        """The colour of a class; with more than eight classes they come round again, with another shape."""
        return self.classes[label % len(self.classes)]


LIGHT = Theme(
    "light",
    paper="#ffffff",
    ink="#1b1f24",
    muted="#57606a",
    faint="#a9b1ba",
    line="#d0d7de",
    panel="#f6f8fa",
    warning="#fff1c2",
    classes=("#0072b2", "#d55e00", "#009e73", "#b65c93", "#3a93c9", "#b87f00", "#6b6b6b", "#8a7f00"),
)
DARK = Theme(
    "dark",
    paper="#14171c",
    ink="#e9edf1",
    muted="#a3adb8",
    faint="#5d6875",
    line="#3a424c",
    panel="#1d222a",
    warning="#4a3a08",
    classes=("#4da6e0", "#f0803c", "#2fbf94", "#dd92bd", "#8fd0f5", "#e9b53d", "#b5b5b5", "#d8cf4a"),
)
# In a page the reader chooses: colours are variables, which `variables` defines for either theme.
PAGE = Theme(
    "page",
    paper="var(--paper)",
    ink="var(--ink)",
    muted="var(--muted)",
    faint="var(--faint)",
    line="var(--line)",
    panel="var(--panel)",
    warning="var(--warning)",
    classes=tuple(f"var(--class-{number})" for number in range(len(LIGHT.classes))),
)
_THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def theme_of(name: str) -> Theme:
    """A theme by its name."""
    if name not in _THEMES:
        raise ProtGNNError(f"Expected a theme of {', '.join(_THEMES)} (got {name!r})")
    return _THEMES[name]


def variables(theme: Theme) -> str:
    """The CSS variables of ``PAGE``, with the colours of a theme."""
    plain = {name: getattr(theme, name) for name in ("paper", "ink", "muted", "faint", "line", "panel", "warning")}
    classes = {f"class-{number}": colour for number, colour in enumerate(theme.classes)}
    return " ".join(f"--{name}: {colour};" for name, colour in (plain | classes).items())


def class_shape(label: int, x: float, y: float, size: float, theme: Theme) -> str:
    """The sign of a class, centred at a point: its colour and a shape of its own, so that grey will do."""
    colour, half = theme.of_class(label), size / 2
    # A shape comes round later than a colour, so that far more classes than eight differ in one or the other.
    shape = SHAPES[(label + label // len(theme.classes)) % len(SHAPES)]
    edge = f'fill="{colour}" stroke="{theme.ink}" stroke-width="0.8"'
    hollow = f'fill="none" stroke="{colour}" stroke-width="{size / 4:g}"'
    points = {
        "triangle": ((0, -half), (half, half), (-half, half)),
        "diamond": ((0, -half * 1.15), (half * 1.15, 0), (0, half * 1.15), (-half * 1.15, 0)),
    }
    if shape in points:
        corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points[shape])
        return f'<polygon points="{corners}" {edge}/>'
    if shape in ("circle", "ring"):
        radius = half if shape == "circle" else half * 0.75
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {edge if shape == "circle" else hollow}/>'
    if shape == "cross":
        return (
            f'<path d="M{x - half:.1f} {y:.1f}H{x + half:.1f}M{x:.1f} {y - half:.1f}V{y + half:.1f}" '
            f'stroke="{colour}" stroke-width="{size / 2.6:.1f}" fill="none"/>'
        )
    width, height = (size, size / 2) if shape == "bar" else (size * 0.9, size * 0.9)
    box = f'x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f"<rect {box} {hollow if shape == 'frame' else edge}/>"
