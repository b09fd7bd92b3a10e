"""People of the development identity provider, and requests without the document."""

import itertools
import json
import os
import urllib.request

LEDGER = os.environ["LEDGER_URL"]
_numbers = itertools.count()


def call(method, path, body=None, token=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(LEDGER + path, method=method, data=data, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def new_name():
    return f"{os.getpid()}-{next(_numbers)}"


def id_token(provider, name, nonce=""):
    return call("GET", f"/dev/idp/{provider}/token?name={name}&nonce={nonce}")["id_token"]


def sign_in(provider="apple", name=None):
    body = {"id_token": id_token(provider, name or new_name())}
    return call("POST", f"/v1/auth/sign-in/{provider}", body)
