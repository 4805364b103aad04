"""The command line, the sizes and the clock of the Python programs: the same as in harness/src/lib.rs."""

import json
import os
import sys
import time

CHAIN = 1_000
LOOP = 10_000
WIDTH = 100
ROUNDS = 100
STEPS = 1_000
TEXT = "forty bytes of text, as a field may have"
SUM = WIDTH * (WIDTH - 1) // 2


def content(number):
    return f"message {number:6}: " + "lorem ipsum dolor " * 8


def message(number):
    return {"role": "assistant", "content": content(number)}


def check_messages(messages):
    assert len(messages) == STEPS
    last = messages[-1]
    # The delta channel of LangGraph reads dictionaries with a role as messages of LangChain.
    assert (last["content"] if isinstance(last, dict) else last.content) == content(STEPS - 1)


def cannot(reason):
    print(json.dumps({"cannot": reason}))


def main(programs):
    """Times the program of the workload. It returns functions that prepare, run and check one run."""
    workload, repetitions = sys.argv[1], int(sys.argv[2])
    program = programs[workload]()
    if program is None:
        return
    prepare, run, check = program
    runs = 50 if workload in ("fan-out", "fan-out-threads") else 1
    # The first repetition is not counted.
    for repetition in range(repetitions + 1):
        total = 0
        for _ in range(runs):
            folder = None
            if "sqlite" in workload:
                folder = f"database-{os.getpid()}-{repetition}"
                os.mkdir(folder)
            prepared = prepare(folder)
            start = time.perf_counter_ns()
            result = run(prepared)
            total += time.perf_counter_ns() - start
            check(prepared, result)
        if repetition > 0:
            print(json.dumps({"nanoseconds": total // runs}))
