"""Which methods of the client the suite has called."""

import functools
import inspect

from langgraph_sdk import get_client

_calls = {}


def _counted(name, method):
    @functools.wraps(method)
    def call(*args, **kwargs):
        _calls[name] += 1
        return method(*args, **kwargs)

    return call


def watch():
    """Counts the calls of each method from now on."""
    client = get_client(url="http://127.0.0.1:1", api_key=None)
    for part in ("assistants", "threads", "runs", "crons", "store"):
        kind = type(getattr(client, part))
        for method, function in inspect.getmembers(kind, inspect.isfunction):
            if not method.startswith("_"):
                name = f"{part}.{method}"
                _calls[name] = 0
                setattr(kind, method, _counted(name, function))


def missing():
    """Returns the methods that were not called."""
    assert len(_calls) >= 46, f"methods of the client were not found: {sorted(_calls)}"
    return sorted(name for name, count in _calls.items() if count == 0)
