"""The reliability plot: how often predictions are right, by the probability they were made with."""

from __future__ import annotations

import math

from protgnn.training.reliability import ReliabilityBin
from protgnn.viz.picture import svg
from protgnn.viz.svg_text import write
from protgnn.viz.theme import Theme

_WIDTH, _HEIGHT = 440.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 46.0, 80.0
_BARS = 30.0
_Z = 1.96


def draw_reliability(bins: list[ReliabilityBin], theme: Theme) -> str:
    """A dot for each bin with its 95 % interval, the line on which dots should lie, and below how many there are."""
    if not bins:
        return ""
    total, most = sum(one.n for one in bins), max(one.n for one in bins)
    low = min(0.5, *(math.floor(10 * one.low) / 10 for one in bins)) if len(bins) > 1 else 0.0
    floor = _HEIGHT - _BOTTOM

    def x(probability: float) -> float:
        return _LEFT + (probability - low) / (1 - low) * (_WIDTH - _LEFT - _RIGHT)

    def y(share: float) -> float:
        return floor - share * (floor - _TOP)

    parts = [write(_LEFT, 18, "reliability", theme, bold=True)]
    parts.append(write(_LEFT, 34, "share of correct predictions, by their probability", theme, 11, muted=True))
    for step in range(5):
        share = step / 4
        parts.append(f'<path d="M{_LEFT} {y(share):.1f}H{_WIDTH - _RIGHT}" stroke="{theme.line}"/>')
        parts.append(write(_LEFT - 6, y(share) + 4, f"{share:.2f}", theme, size=11, muted=True, anchor="end"))
    for tenth in range(round(low * 10), 11, 1 if low >= 0.4 else 2):
        parts.append(write(x(tenth / 10), floor + 16, f"{tenth / 10:.1f}", theme, 11, muted=True, anchor="middle"))
    ends = f"M{x(low):.1f} {y(low):.1f}L{x(1):.1f} {y(1):.1f}"
    parts.append(f'<path d="{ends}" stroke="{theme.muted}" stroke-dasharray="6 4" fill="none"/>')
    parts.append(write(_LEFT - 6, _HEIGHT - 5, "n", theme, 11, muted=True, anchor="end"))
    base = _HEIGHT - 18
    for one in bins:
        at, (least, greatest) = x(one.confidence), _wilson(one.accuracy, one.n)
        parts.append(
            f'<path d="M{at:.1f} {y(least):.1f}V{y(greatest):.1f}" stroke="{theme.muted}" stroke-width="1.6"/>'
        )
        parts.append(f'<circle cx="{at:.1f}" cy="{y(one.accuracy):.1f}" r="4.5" fill="{theme.ink}"/>')
        left, width, height = x(max(one.low, low)), x(one.high) - x(max(one.low, low)), _BARS * one.n / most
        box = f'x="{left + 1:.1f}" y="{base - height:.1f}" width="{max(width - 2, 1):.1f}" height="{height:.1f}"'
        parts.append(f'<rect {box} fill="{theme.faint}"/>')
        parts.append(write(left + width / 2, base + 13, str(one.n), theme, size=10, muted=True, anchor="middle"))
    told = ", ".join(f"{one.accuracy:.2f} right at probability {one.confidence:.2f} ({one.n})" for one in bins)
    return svg(_WIDTH, _HEIGHT, parts, f"Reliability of {total} predictions: {told}", theme)


def _wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)
