"""What the modules share."""

import uuid

import httpx
from langgraph_sdk import get_client

UNKNOWN = "00000000-0000-7000-8000-000000000000"
DEFAULTS = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")


def client(url):
    return get_client(url=url, api_key=None)


def default_assistant(graph):
    return str(uuid.uuid5(DEFAULTS, graph))


def equal(found, expected):
    assert found == expected, f"\n   found {found!r}\nexpected {expected!r}"


def contains(found, **expected):
    equal({key: found.get(key) for key in expected}, expected)


async def refused(status, awaitable):
    """The request fails with a status. Returns the text of the error."""
    try:
        found = await awaitable
    except Exception as error:
        response = getattr(error, "response", None)
        assert response is not None, repr(error)
        equal(response.status_code, status)
        # The client puts the body of a streamed response into a note.
        return " ".join([str(error), *getattr(error, "__notes__", [])])
    raise AssertionError(f"expected {status}, found {found!r}")


async def collect(stream):
    return [part async for part in stream]


def events(parts):
    return [part.event for part in parts]


def data(parts, event):
    return [part.data for part in parts if part.event == event]
