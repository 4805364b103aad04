"""Writes the tables: results/table.md, and the parts between the marks of README.md and of the page of the book."""

from pathlib import Path
from statistics import median

import plot
from ratio import ratio_of
from workloads import BASELINE, OURS, PROGRAMS, SUMMARY, WORKLOADS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
PLOT = ROOT / "docs" / "reference" / "benchmarks.svg"


def time(nanoseconds):
    for unit, size in [("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]:
        value = nanoseconds / size
        if value < 999.5 or unit == "s":
            break
    return f"{number(value)} {unit}"


def number(value):
    """Three significant digits."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return "\n".join([row(head), row(["---"] + ["---:"] * (len(head) - 1)), *map(row, rows)])


def median_cell(results, workload, program):
    cell = results["workloads"][workload.key][program.key]
    if any(cell.get("rounds", [])):
        return time(median(filter(None, cell["rounds"])) / workload.units)
    if "same" in cell:
        return "the default"
    if "limit" in cell:
        return f"> {time(cell['limit'] * 1e9 / workload.units)}"
    return "–"


def medians(results, keys):
    head = ["the time of one …"] + [program.title for program in PROGRAMS]
    rows = [
        [f"{workload.title}: {workload.unit}"]
        + [median_cell(results, workload, program) for program in PROGRAMS]
        for workload in WORKLOADS
        if workload.key in keys
    ]
    return table(head, rows)


def ratios(results, to):
    """The time of each program as a multiple of the time of `to`."""
    head = ["workload"] + [program.title for program in PROGRAMS if program.key != to]
    rows = []
    for workload in WORKLOADS:
        cells = []
        for program in PROGRAMS:
            if program.key != to:
                ratio = ratio_of(results, workload.key, program.key, to)
                cells.append("–" if ratio is None else number(ratio))
        rows.append([workload.title, *cells])
    return table(head, rows)


def slower_rows(results):
    """Says where another library is faster than ours."""
    found = []
    for workload in WORKLOADS:
        for program in PROGRAMS:
            if program.key not in (BASELINE, OURS):
                ratio = ratio_of(results, workload.key, program.key, OURS)
                if ratio is not None and ratio < 1:
                    found.append(f"- {workload.title}: {program.title} needs {ratio:.2f} of the time.")
    if not found:
        return "In no workload is another library faster than superstep."
    return "Another library is faster than superstep in these workloads:\n\n" + "\n".join(found)


def missing(results):
    """Says which library does not have which workload."""
    found = []
    for program in PROGRAMS:
        reasons = {}
        for workload in WORKLOADS:
            cell = results["workloads"][workload.key][program.key]
            if "cannot" in cell:
                reasons.setdefault(cell["cannot"], []).append(workload.title)
            elif "limit" in cell:
                reasons.setdefault(f"a run takes more than {cell['limit']:.0f} s", []).append(workload.title)
        for reason, titles in reasons.items():
            found.append([program.title, "; ".join(titles), reason])
    return "\n".join([row(["library", "workload", "reason"]), row(["---"] * 3), *map(row, found)])


def stores(results):
    head = ["library", "state", "fan-out", "stored in memory", "stored in SQLite", "journal", "file after 1,000 messages"]
    rows = []
    for program in PROGRAMS:
        database = results["workloads"]["messages-sqlite"][program.key].get("database")
        size = f"{database['bytes'] / 1e6:.2f} MB" if database else "–"
        mode = database["journal_mode"] if database else "–"
        rows.append([program.title, program.state, program.fan_out, program.memory, program.sqlite, mode, size])
    return "\n".join([row(head), row(["---"] * 6 + ["---:"]), *map(row, rows)])


def versions(results):
    found = []
    for program in PROGRAMS:
        for package, version in results["versions"][program.key].items():
            found.append(f"{package} {version}" + (" (Python)" if program.python else ""))
    return ", ".join(found)


def session(results):
    machine, share = results["machine"], results["share_of_other_processes"]
    noise = (
        f"Other processes used {share:.0%} of its processor time during the session"
        + (", so the machine was shared and the times are noisy." if share >= 0.03 else ".")
    )
    return (
        f"- Measured on {results['date']} at commit {results['commit']}, in {results['rounds']} rounds and "
        f"{results['minutes']} minutes.\n"
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB of memory, "
        f"{machine['kernel']}, file system {machine['file_system']}.\n"
        f"- {noise}\n"
        f"- Compilers: {machine['rustc']}; Python {machine['python']}.\n"
        f"- Versions: {versions(results)}."
    )


def summary(results):
    return f"{medians(results, SUMMARY)}\n\n{session(results)}"


def full(results):
    keys = [workload.key for workload in WORKLOADS]
    return "\n\n".join([
        session(results),
        "### Medians",
        medians(results, keys),
        "“The default” means that the row with the default settings is the same run.",
        "### As a multiple of the hand-written baseline",
        ratios(results, BASELINE),
        "### As a multiple of superstep",
        ratios(results, OURS),
        slower_rows(results),
        "### Workloads that a library does not have",
        missing(results),
        "### Contents of the stores",
        stores(results),
    ])


def between_marks(file, text, name):
    """Replaces the part of a file between two marks."""
    begin, end = f"<!-- {name}: written by benches/peers -->", f"<!-- end of {name} -->"
    page = file.read_text()
    if begin not in page or end not in page:
        raise SystemExit(f"{file} has no marks for {name}")
    before, rest = page.split(begin, 1)
    _, after = rest.split(end, 1)
    file.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def write(results):
    text = full(results)
    (HERE / "results" / "table.md").write_text(f"# Results\n\n{text}\n")
    PLOT.write_text(plot.svg(results))
    between_marks(PAGE, text, "results")
    between_marks(ROOT / "README.md", summary(results), "results")
