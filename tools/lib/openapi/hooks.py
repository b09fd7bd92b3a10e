"""Lets the requests of Schemathesis reach further than the checks of tokens.

Each request of an account holder is of an account of its own; with API_KEY set, all requests are of its principal.
Half of the requests get a configured provider, existing ids and, in the place of generated tokens, valid ones; a
merge gets a plan. Writes the number of answers of each operation with each status to the file STATUSES.
"""

import atexit
import collections
import itertools
import json
import os

import schemathesis
from ledger import (
    begin_app, call, holder_of_factor, id_token, new_name, second_step, sent_code, sign_in, sign_up,
)

API_KEY = os.environ.get("API_KEY")
PROVIDERS = ("google", "apple")
numbers = itertools.count()
statuses = collections.defaultdict(collections.Counter)


@schemathesis.auth(refresh_interval=None)
class Tokens:
    def get(self, case, context):
        return API_KEY or sign_in()["access_token"]

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.hook
def before_call(context, case, **kwargs):
    number = next(numbers)
    if number % 2:
        return
    provider = PROVIDERS[number // 2 % 2]
    path, body = case.path_parameters or {}, case.body if isinstance(case.body, dict) else {}
    if "provider" in path:
        path["provider"] = provider
    if "id" in path:
        path["id"] = sign_in()["user_id"]
    if "event_id" in path:
        path["event_id"] = call("GET", "/v1/events?limit=1", token=API_KEY)["events"][0]["event_id"]
    if case.method == "DELETE" and "provider" in path:
        (case.query or {}).pop("identity_id", None)
        case.headers["Authorization"] = f"Bearer {holder_of_both()}"
    if "refresh_token" in body:
        body["refresh_token"] = sign_in()["refresh_token"]
    if "absorb" in body:
        body["absorb"] = sign_in()["user_id"]
        body.pop("keep", None)
    if "id_token" in body:
        prove(case, body, provider)
    prepare = PREPARATIONS.get(case.operation.label)
    # Once: what the preparation made is used up.
    if prepare and not statuses[case.operation.label][200]:
        prepare(case)


def bear(case, token, body=None):
    """Makes a request one of an account holder, with a body if there is one."""
    case.headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        case.body = body


def enrol(case):
    token = sign_in()["access_token"]
    bear(case, token, begin_app(token)[1])


def renew_codes(case):
    bear(case, holder_of_factor()[0], {})


def remove_factor(case):
    token, factor, _ = holder_of_factor()
    bear(case, token)
    case.path_parameters["factor_id"] = factor


def finish(case):
    case.body = second_step()


def change_password(case):
    bear(case, PASSWORD["token"], {"password": "another horse battery staple"})


def change_address(case):
    case.path_parameters["code_provider"] = "password"
    bear(case, PASSWORD["mover"], PASSWORD["change"])


def return_address(case):
    case.path_parameters["code_provider"] = "password"
    case.body = PASSWORD["return"]


def reset_password(case):
    case.path_parameters["password_provider"] = "password"
    case.body = PASSWORD["reset"]


def with_password():
    """Accounts with passwords, made before the requests use up the codes that a network may ask for."""
    token, _ = sign_up("correct horse battery staple")
    _, address = sign_up("correct horse battery staple")
    begun = call("POST", "/v1/auth/password-resets/password", {"email": address})
    reset = {
        "challenge_id": begun["challenge_id"], "code": sent_code(address, 2),
        "password": "another horse battery staple",
    }
    mover, address = sign_up("correct horse battery staple")
    _, former = sign_up("correct horse battery staple")
    taken = call("POST", "/v1/auth/sign-in/password",
        {"email": former, "password": "correct horse battery staple"})["access_token"]
    call("POST", "/v1/account/addresses/password", change_of(former, taken), taken)
    begun = call("POST", "/v1/auth/address-returns/password", {"address": former})
    returned = {
        "challenge_id": begun["challenge_id"], "code": sent_code(former, 2),
        "password": "another horse battery staple",
    }
    return {
        "token": token, "reset": reset, "mover": mover, "change": change_of(address, mover),
        "return": returned,
    }


def change_of(address, token):
    """The body that changes an address to a new one."""
    new = f"new-{address}"
    sent = call("POST", "/v1/account/codes/password", {"address": new, "change": True}, token)
    return {
        "current_address": address, "challenge_id": sent["challenge_id"], "code": sent_code(new, 1),
    }


PASSWORD = None if API_KEY else with_password()
# What operations need that follow others.
PREPARATIONS = {
    "POST /v1/account/factors": enrol,
    "POST /v1/account/recovery-codes": renew_codes,
    "DELETE /v1/account/factors/{factor_id}": remove_factor,
    "POST /v1/auth/second-factor": finish,
    "POST /v1/account/password": change_password,
    "POST /v1/auth/password-resets/{password_provider}/complete": reset_password,
    "POST /v1/account/addresses/{code_provider}": change_address,
    "POST /v1/auth/address-returns/{code_provider}/complete": return_address,
}


def holder_of_both():
    """The access token of a new account with both providers."""
    token = sign_in()["access_token"]
    call("POST", "/v1/auth/link/google", {"id_token": id_token("google", new_name())}, token)
    return token


def prove(case, body, provider):
    """Puts a valid ID token into a body, and what belongs to it."""
    name = new_name()
    body["id_token"] = id_token(provider, name)
    body.pop("nonce", None)
    if not body.keys() & {"provider", "plan_digest"}:
        return
    sign_in(provider, name)
    body["provider"] = provider
    body.pop("keep", None)
    if "plan_digest" in body:
        # By an account without an identity of the provider, so that nothing has to be chosen.
        token = sign_in(next(other for other in PROVIDERS if other != provider))["access_token"]
        proof = {"provider": provider, "id_token": body["id_token"]}
        body["plan_digest"] = call("POST", "/v1/account/merge/preview", proof, token)["plan_digest"]
        body["id_token"] = id_token(provider, name, body["plan_digest"])
        case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][response.status_code] += 1


@atexit.register
def write_statuses():
    with open(os.environ["STATUSES"], "w", encoding="utf-8") as file:
        json.dump(statuses, file)
