"""Training curves: training solid, validation dashed, so that grey will do."""

from __future__ import annotations

import math

from protgnn.viz.picture import svg
from protgnn.viz.svg_text import write
from protgnn.viz.theme import Theme

_WIDTH, _HEIGHT = 440.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 34.0, 36.0


def draw_curves(log: dict[str, list[float]], what: str, theme: Theme, best: int | None = None) -> str:
    """How ``loss`` or ``accuracy`` went, on the training and on the validation graphs."""
    lines = {name: log.get(key, []) for name, key in (("training", what), ("validation", f"valid_{what}"))}
    lines = {name: values for name, values in lines.items() if any(map(math.isfinite, values))}
    finite = [value for values in lines.values() for value in values if math.isfinite(value)]
    if not finite:
        return ""
    length = max(len(values) for values in lines.values())
    low = 0.0 if min(finite) >= 0 else min(finite)
    # One wild first epoch must not press the rest flat.
    high = 1.0 if what == "accuracy" else sorted(finite)[math.ceil(0.98 * len(finite)) - 1] * 1.08 or 1.0

    def x(epoch: float) -> float:
        return _LEFT + (epoch - 1) / max(length - 1, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        share = (min(max(value, low), high) - low) / max(high - low, 1e-12)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    parts = [write(_LEFT, 18, what, theme, bold=True)]
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<path d="M{_LEFT} {y(value):.1f}H{_WIDTH - _RIGHT}" stroke="{theme.line}"/>')
        parts.append(write(_LEFT - 6, y(value) + 4, f"{value:.2f}", theme, size=11, muted=True, anchor="end"))
    parts.append(write(_LEFT, _HEIGHT - 14, "epoch 1", theme, size=11, muted=True))
    parts.append(write(_WIDTH - _RIGHT, _HEIGHT - 14, str(length), theme, size=11, muted=True, anchor="end"))
    if best is not None and 1 <= best <= length:
        parts.append(
            f'<path d="M{x(best):.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="{theme.muted}" stroke-dasharray="2 3"/>'
        )
        at = min(max(x(best), _LEFT + 92), _WIDTH - _RIGHT - 72)
        parts.append(write(at, _HEIGHT - 14, f"kept: {best}", theme, size=11, anchor="middle"))
    at = _WIDTH - _RIGHT - 190
    for name, values in lines.items():
        colour, dashes = (theme.ink, "") if name == "training" else (theme.of_class(0), ' stroke-dasharray="6 3"')
        points = " ".join(
            f"{x(number):.1f},{y(value):.1f}" for number, value in enumerate(values, 1) if math.isfinite(value)
        )
        style = f'fill="none" stroke="{colour}" stroke-width="1.8"{dashes}'
        parts.append(f'<polyline points="{points}" {style}/><path d="M{at} 14h24" {style}/>')
        parts.append(write(at + 30, 18, name, theme, size=12))
        at += 98
    ends = ", ".join(f"{name} ends at {values[-1]:.2f}" for name, values in lines.items())
    return svg(_WIDTH, _HEIGHT, parts, f"{what} over {length} epochs: {ends}", theme)
