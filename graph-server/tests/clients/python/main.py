"""Runs every `test_*` of the modules next to this file against the server whose address is the first argument.

Together they call every method of the client of LangGraph.
"""

import asyncio
import importlib
import inspect
import sys
import time
import traceback

MODULES = [
    "document",
    "assistants",
    "threads",
    "store",
    "runs",
    "streams",
    "thread_streams",
    "states",
    "cancelling",
    "later",
    "remote_graph",
    "agents",
    "mcp_tools",
]


async def run(test, url):
    result = test(url)
    if inspect.isawaitable(result):
        await asyncio.wait_for(result, timeout=60)


def main():
    url, *only = sys.argv[1:]
    failed, passed = [], 0
    if not only:
        # Not for a module alone: it may be for a Python without this client.
        called = importlib.import_module("called")
        called.watch()
    for name in only or MODULES:
        module = importlib.import_module(name)
        for test_name, test in inspect.getmembers(module, inspect.isfunction):
            if not test_name.startswith("test_"):
                continue
            began = time.monotonic()
            try:
                asyncio.run(run(test, url))
            except BaseException:
                failed.append(f"{name}.{test_name}")
                print(f"FAILED {name}.{test_name}")
                traceback.print_exc(file=sys.stdout)
            else:
                passed += 1
                print(f"ok {name}.{test_name} ({time.monotonic() - began:.2f} s)")
    if not only and (methods := called.missing()):
        failed.append("called")
        print(f"FAILED called: no test calls {methods}")
    print(f"{passed} passed, {len(failed)} failed {failed or ''}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
