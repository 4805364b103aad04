#!/usr/bin/env python3
"""Measures superstep, a hand-written baseline and other libraries, and writes the tables and the plot.

Builds the programs, runs them in turn in several rounds, and writes:
- results/results.json: all measurements,
- results/table.md and docs/reference/benchmarks.svg: the tables and the plot,
- the parts of README.md and docs/reference/benchmarks.md between the marks.

Uses only the standard library of Python. The Python libraries are installed into a virtual environment.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import report
from workloads import PROGRAMS, WORKLOADS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# One call of a program may take this long. It runs the workload at least twice.
LIMIT = 120
# The folders whose last commit is shown as the version of superstep.
SOURCES = ["graph-core", "graph-store", "graph-sqlite", "state-derive"]
# A call repeats its workload for about this long.
TARGET = 0.3
# A program that needs more seconds than this for one run is called in the first rounds only.
SLOW, FIRST_ROUNDS = 2.0, 3


def target_folder():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def build(programs):
    """Builds each program on its own, so that no program gets the features of another one's dependencies."""
    for program in programs:
        if not program.python:
            command = ["cargo", "build", "--release", "--quiet", "--target-dir", target_folder() / "peers"]
            subprocess.run(command, cwd=HERE / program.key, check=True)


def python():
    """Returns the interpreter of a virtual environment with the Python libraries."""
    folder = target_folder() / "peers" / "python"
    requirements = (HERE / "python" / "requirements.txt").read_text()
    installed = folder / "requirements.txt"
    if not installed.exists() or installed.read_text() != requirements:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", HERE / "python" / "requirements.txt"], check=True)
        installed.write_text(requirements)
    return folder / "bin" / "python"


def command_of(program, interpreter):
    if program.python:
        return [interpreter, "-B", HERE / "python" / f"{program.key}.py"]
    return [target_folder() / "peers" / "release" / f"peer-{program.key}"]


def call(command, workload, repetitions):
    """Runs a program once. Returns its lines, the sizes of its databases and their journal mode."""
    # Beside the target folder's files, so that the databases are on a disk and not in memory.
    with tempfile.TemporaryDirectory(prefix="run-", dir=target_folder() / "peers") as folder:
        try:
            done = subprocess.run(
                [*command, workload, str(repetitions)],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return [{"limit": LIMIT / 2}], None
        if done.returncode != 0:
            sys.exit(f"{command[-1]} {workload} failed:\n{done.stdout}{done.stderr}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return lines, database_of(Path(folder))


def database_of(folder):
    """The size of a database after a run, without its write-ahead log, and its journal mode."""
    for file in sorted(folder.glob("database-*/*.db")):
        db = sqlite3.connect(file)
        mode = db.execute("PRAGMA journal_mode").fetchone()[0]
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        return {"bytes": file.stat().st_size, "journal_mode": mode}
    return None


def measure(programs, workloads, rounds, interpreter):
    """Runs the programs of each workload in turn, round after round."""
    cells = {}
    for workload in workloads:
        for program in programs:
            lines, database = call(command_of(program, interpreter), workload.key, 1)
            cell = lines[-1]
            if "nanoseconds" in cell:
                repetitions = int(TARGET * 1e9 / max(cell["nanoseconds"], 1))
                slow = cell["nanoseconds"] > SLOW * 1e9
                cell = {"repetitions": min(max(repetitions, 1), 20), "slow": slow, "rounds": []}
                cell |= {"database": database} if database else {}
            cells[workload.key, program.key] = cell
            print(f"{workload.key} {program.key}: {json.dumps(lines[-1])}", flush=True)
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", flush=True)
        for workload in workloads:
            for program in programs:
                cell = cells[workload.key, program.key]
                if "rounds" in cell and not (cell["slow"] and number >= FIRST_ROUNDS):
                    command = command_of(program, interpreter)
                    lines, _ = call(command, workload.key, cell["repetitions"])
                    # No value if the machine was so busy that the call took too long.
                    times = [line["nanoseconds"] for line in lines if "nanoseconds" in line]
                    cell["rounds"].append(median(times) if times else None)
    return {
        workload.key: {program.key: cells[workload.key, program.key] for program in programs}
        for workload in workloads
    }


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()


def machine():
    """Describes the machine, without its name."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "kernel": f"{platform.system()} {platform.release()}",
        "file_system": output("df", "--output=fstype", str(target_folder())).split()[-1],
        "rustc": output("rustc", "--version"),
        "python": platform.python_version(),
    }


def busy_seconds():
    """The processor time that all processes have used, and that was stolen by the host."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = [int(field) for field in fields]
    user, nice, system, _, _, irq, softirq, steal = ticks[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def versions():
    found = {}
    for program in PROGRAMS:
        if program.python:
            pins = (HERE / "python" / "requirements.txt").read_text().split()
            known = dict(pin.split("==") for pin in pins)
        else:
            known, name = {}, ""
            for line in (HERE / program.key / "Cargo.lock").read_text().splitlines():
                if line.startswith("name = "):
                    name = line.split('"')[1]
                elif line.startswith('version = "'):
                    known.setdefault(name, line.split('"')[1])
        found[program.key] = {package: known[package] for package in program.packages}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="the number of rounds (default: 9)")
    parser.add_argument("--only", metavar="WORKLOAD", nargs="+", help="only these workloads; writes no files")
    parser.add_argument("--programs", metavar="PROGRAM", nargs="+", help="only these programs; writes no files")
    parser.add_argument("--report", action="store_true", help="writes the files again from results/results.json")
    args = parser.parse_args()
    if args.report:
        report.write(json.loads((HERE / "results" / "results.json").read_text()))
        return

    programs = [program for program in PROGRAMS if not args.programs or program.key in args.programs]
    workloads = [workload for workload in WORKLOADS if not args.only or workload.key in args.only]
    build(programs)
    interpreter = python()
    busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
    cells = measure(programs, workloads, args.rounds, interpreter)
    elapsed = time.monotonic() - start
    others = (busy_seconds() - busy) - (own_seconds() - own)
    results = {
        "date": datetime.date.today().isoformat(),
        "commit": output("git", "log", "-1", "--format=%h", "--abbrev=12", "--", *SOURCES),
        "machine": machine(),
        "rounds": args.rounds,
        "minutes": round(elapsed / 60, 1),
        "share_of_other_processes": round(max(others, 0) / (elapsed * os.cpu_count()), 3),
        "versions": versions(),
        "workloads": cells,
    }
    if args.only or args.programs:
        print(json.dumps(results, indent=1))
        return
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    report.write(results)


if __name__ == "__main__":
    main()
