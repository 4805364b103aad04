"""The document of the routes."""

import httpx
from openapi_spec_validator import OpenAPIV31SpecValidator

from checks import equal


def test_document_is_openapi_3_1(url):
    document = httpx.get(f"{url}/openapi.json").json()
    equal(document["openapi"], "3.1.0")
    OpenAPIV31SpecValidator(document).validate()
