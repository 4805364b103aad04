"""Draws the ratios to the hand-written baseline as dots on a logarithmic axis."""

import math
from html import escape

from ratio import ratio_of
from workloads import BASELINE, OURS, PROGRAMS, WORKLOADS

COLOURS = {
    "superstep": "#d7301f",
    "cognis-graph": "#1b6ca8",
    "juncture": "#2a9d8f",
    "langgraph": "#8e5ea2",
    "adk-graph": "#b8860b",
    "graph-flow": "#555555",
    "langgraph_python": "#3b7d23",
    "pydantic_graph_python": "#e377c2",
}
LEFT, RIGHT, TOP, ROW, WIDTH = 390, 50, 92, 30, 1040


def svg(results):
    shown = [program for program in PROGRAMS if program.key != BASELINE]
    dots = []
    for line, workload in enumerate(WORKLOADS):
        for program in shown:
            ratio = ratio_of(results, workload.key, program.key, BASELINE)
            if ratio is not None:
                dots.append((line, program, ratio))
    lines = [workload for line, workload in enumerate(WORKLOADS) if any(dot[0] == line for dot in dots)]
    position = {WORKLOADS.index(workload): row for row, workload in enumerate(lines)}
    low = min(0, math.floor(math.log10(min(ratio for *_, ratio in dots))))
    high = math.ceil(math.log10(max(ratio for *_, ratio in dots)))
    height = TOP + ROW * len(lines) + 46

    def x(ratio):
        return LEFT + (math.log10(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="16">Time as a multiple of the hand-written baseline ({results["date"]})</text>',
    ]
    for number, program in enumerate(shown):
        left, top = 16 + number % 4 * 235, 44 + number // 4 * 20
        out.append(mark(left + 6, top, program))
        out.append(f'<text x="{left + 18}" y="{top + 5}">{escape(program.title)}</text>')
    bottom = TOP + ROW * len(lines)
    for power in range(low, high + 1):
        place = x(10**power)
        out.append(f'<line x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        label = f"{10**power:,}×" if power >= 0 else f"{10**power:g}×"
        out.append(f'<text x="{place:.1f}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    for row, workload in enumerate(lines):
        middle = TOP + ROW * row + ROW / 2
        out.append(f'<text x="{LEFT - 12}" y="{middle + 4:.1f}" text-anchor="end">{escape(workload.title)}</text>')
        out.append(f'<line x1="{LEFT}" y1="{middle:.1f}" x2="{WIDTH - RIGHT}" y2="{middle:.1f}" stroke="#eeeeee"/>')
    # Ours is drawn last, above the others.
    for line, program, ratio in sorted(dots, key=lambda dot: dot[1].key == OURS):
        title = f"{program.title}, {WORKLOADS[line].title}: {ratio:.2f}"
        out.append(mark(x(ratio), TOP + ROW * position[line] + ROW / 2, program, title))
    out.append(f'<text x="16" y="{height - 6}" font-size="11" fill="#555555">Logarithmic axis; smaller is better.</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def mark(x, y, program, title=""):
    """A dot; a square for a Python library, a diamond for ours."""
    colour = COLOURS[program.key]
    title = f"<title>{escape(title)}</title>" if title else ""
    if program.key == OURS:
        points = f"{x - 7:.1f},{y:.1f} {x:.1f},{y - 7:.1f} {x + 7:.1f},{y:.1f} {x:.1f},{y + 7:.1f}"
        return f'<polygon points="{points}" fill="{colour}">{title}</polygon>'
    if program.python:
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{colour}">{title}</rect>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}" fill-opacity="0.85">{title}</circle>'
