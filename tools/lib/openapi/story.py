"""Signs in, links, meets a conflict and merges, with a client that openapi-python-client has generated.

    story.py PACKAGE

The operations are found by their methods and paths, because the names of functions are the generator's.
"""

import importlib
import inspect
import pkgutil
import sys
import typing

from ledger import LEDGER, id_token, new_name

package = importlib.import_module(sys.argv[1])


def operations():
    """The modules of the generated client by method and path."""
    found = {}
    api = importlib.import_module(f"{sys.argv[1]}.api")
    for entry in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
        module = importlib.import_module(entry.name)
        if hasattr(module, "sync_detailed"):
            parameters = inspect.signature(module._get_kwargs).parameters.values()
            required = {p.name: p.name for p in parameters if p.default is p.empty and p.name != "body"}
            if "body" in inspect.signature(module._get_kwargs).parameters:
                required["body"] = Body()
            request = module._get_kwargs(**required)
            found[request["method"].upper(), request["url"]] = module
    return found


class Body:
    """Stands for a body while paths are looked up."""

    def to_dict(self):
        return {}


MODULES = operations()


def body_type(module):
    """The class of a body, which the generator may have put in a union with "not set"."""
    hint = typing.get_type_hints(module.sync_detailed)["body"]
    return next(kind for kind in typing.get_args(hint) or (hint,) if hasattr(kind, "from_dict"))


def call(client, method, path, body=None, **parameters):
    """The status and the body of the answer to an operation, as the generated client has parsed it."""
    module = MODULES[method, path.format(**{name: name for name in parameters})]
    if body is not None:
        parameters["body"] = body_type(module).from_dict(body)
    answer = module.sync_detailed(client=client, **parameters)
    if answer.parsed is None:
        sys.exit(f"{method} {path}: the client knows no body for status {answer.status_code}")
    return int(answer.status_code), answer.parsed.to_dict()


def expect(answer, status, holds):
    if answer[0] != status or not holds(answer[1]):
        sys.exit(f"not what was expected: {answer}")
    return answer[1]


def sign_in(provider, name):
    answer = call(
        package.Client(base_url=LEDGER), "POST", "/v1/auth/sign-in/{provider}",
        {"id_token": id_token(provider, name)}, provider=provider)
    session = expect(answer, 200, lambda body: body["is_new_user"])
    return session["user_id"], package.AuthenticatedClient(base_url=LEDGER, token=session["access_token"])


ada, google = new_name(), new_name()
account, client = sign_in("apple", ada)
other, _ = sign_in("google", google)

link = ("POST", "/v1/auth/link/{provider}")
conflict = call(client, *link, {"id_token": id_token("google", google)}, provider="google")
expect(conflict, 409, lambda body: body["error"]["code"] == "PROVIDER_CONFLICT")

proof = {"provider": "google", "id_token": id_token("google", google)}
plan = expect(
    call(client, "POST", "/v1/account/merge/preview", proof), 200, lambda body: body["absorbed_user_id"] == other)
proof = {
    "provider": "google", "plan_digest": plan["plan_digest"],
    "id_token": id_token("google", google, plan["plan_digest"]),
}
expect(call(client, "POST", "/v1/account/merge", proof), 200, lambda body: body["user_id"] == account)

unlinked = call(client, "DELETE", "/v1/auth/link/{provider}", provider="google")
expect(unlinked, 200, lambda body: body["linked_providers"] == ["apple"])
linked = call(client, *link, {"id_token": id_token("google", new_name())}, provider="google")
expect(linked, 200, lambda body: body["linked_providers"] == ["apple", "google"])
expect(call(client, "GET", "/v1/account"), 200, lambda body: body["user_id"] == account)
print(f"The generated client has {len(MODULES)} operations; it signed in, linked, met a conflict and merged.")
