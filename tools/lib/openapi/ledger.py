"""People of the development identity provider, and requests without the document."""

import base64
import hashlib
import hmac
import itertools
import json
import os
import re
import time
import urllib.error
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


def app_code(secret, step=0):
    """The code of an authenticator app (RFC 6238), for a number of steps after the present one."""
    count = int(time.time()) // 30 + step
    mac = hmac.new(base64.b32decode(secret), count.to_bytes(8, "big"), hashlib.sha1).digest()
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start:start + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


def begin_app(token):
    """The secret of an authenticator app, and the body that enrols it."""
    begun = call("POST", "/v1/account/factor-enrolments", {"type": "totp"}, token)
    return begun["secret"], {"enrolment_token": begun["enrolment_token"], "code": app_code(begun["secret"])}


def holder_of_factor(provider="apple", name=None):
    """A session of a new account with an authenticator app, and the id and the secret of the factor."""
    token = sign_in(provider, name)["access_token"]
    secret, body = begin_app(token)
    enrolled = call("POST", "/v1/account/factors", body, token)
    return enrolled["session"]["access_token"], enrolled["factor_id"], secret


def second_step():
    """The body that finishes a refused sign-in."""
    name = new_name()
    _, factor, secret = holder_of_factor("apple", name)
    try:
        sign_in("apple", name)
    except urllib.error.HTTPError as refused:
        details = json.load(refused)["error"]["details"]
    return {"sign_in_token": details["sign_in_token"], "factor_id": factor, "code": app_code(secret, 1)}


def sent_code(address, number=1):
    """The code of a message to an address, by its number; messages without a code don't count."""
    for _ in range(200):
        messages = call("GET", "/dev/outbox")["messages"]
        texts = [message["text"] for message in messages if message["to"] == address]
        sent = [found.group() for text in texts if (found := re.search(r"\b[0-9]{6}\b", text))]
        if len(sent) >= number:
            return sent[-number]
        time.sleep(0.05)
    raise RuntimeError("no message")


def sign_up(password):
    """An access token of a new account with a password, and its address."""
    address = f"{new_name()}@example.com"
    begun = call("POST", "/v1/auth/sign-up/password", {"email": address, "password": password})
    body = {"challenge_id": begun["challenge_id"], "code": sent_code(address)}
    return call("POST", "/v1/auth/sign-in/password", body)["access_token"], address
