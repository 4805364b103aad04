#!/usr/bin/env python3
"""Counts the instructions of the deterministic workloads with callgrind, and compares them with counts.json.

An instruction count hardly depends on the machine and its load, so it shows a regression that a time does not. The count
is of one run: the difference of two calls with different numbers of repetitions.

Prints each count next to the recorded one. Fails if one differs by more than the tolerance. Needs valgrind.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import report
import run
from workloads import BASELINE, COUNTED, OURS, PROGRAMS, WORKLOADS

RECORD = Path(__file__).resolve().parent / "counts.json"
# Hash maps with random seeds, and allocations, make the counts differ a little from call to call.
TOLERANCE = 0.02


def instructions(command, workload, repetitions):
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*callgrind, *command, workload, str(repetitions)], capture_output=True, text=True, check=True
    )
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def count(program, workload):
    command = run.command_of(program, None)
    few, many = (instructions(command, workload.key, repetitions) for repetitions in (1, 3))
    runs = 50 if workload.key == "fan-out" else 1
    return round((many - few) / 2 / runs / workload.units)


def table(counts):
    head = ["instructions of one …", "by hand", "superstep", "ratio"]
    rows = [
        [f"{workload.title}: {workload.unit}", f"{hand:,}", f"{ours:,}", report.number(ours / hand)]
        for workload in WORKLOADS
        if workload.key in COUNTED
        for hand, ours in [(counts[BASELINE][workload.key], counts[OURS][workload.key])]
    ]
    return report.table(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="writes counts.json and the table in the book")
    args = parser.parse_args()
    programs = [program for program in PROGRAMS if program.key in (BASELINE, OURS)]
    run.build(programs)
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    counts, differs = {}, False
    for program in programs:
        counts[program.key] = {}
        for workload in WORKLOADS:
            if workload.key in COUNTED:
                found = count(program, workload)
                counts[program.key][workload.key] = found
                old = recorded.get(program.key, {}).get(workload.key)
                change = (found - old) / old if old else 0.0
                differs |= abs(change) > TOLERANCE
                print(f"{program.key} {workload.key}: {found:,} instructions, recorded {old}, {change:+.1%}", flush=True)
    if args.record:
        RECORD.write_text(json.dumps(counts, indent=1) + "\n")
        report.between_marks(report.PAGE, table(counts), "counts")
    elif differs:
        sys.exit(f"a count differs from the recorded one by more than {TOLERANCE:.0%}; --record accepts the new ones")


if __name__ == "__main__":
    main()
