"""Reads a dashboard with the model that Grafana publishes, and checks that the model knows each of its members."""

import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard


def differences(given, read, place):
    if type(given) is not type(read):
        yield f"{place}: another type"
    elif isinstance(given, dict):
        for name, value in given.items():
            if name in read:
                yield from differences(value, read[name], f"{place}.{name}")
            else:
                yield f"{place}.{name}: unknown"
    elif isinstance(given, list) and len(given) == len(read):
        for index, value in enumerate(given):
            yield from differences(value, read[index], f"{place}[{index}]")
    elif given != read:
        yield f"{place}: another value"


with open(sys.argv[1], encoding="utf-8") as file:
    dashboard = json.load(file)
text = JSONEncoder(sort_keys=True).encode(Dashboard.from_json(dashboard))
found = list(differences(dashboard, json.loads(text), "dashboard"))
print("\n".join(found[:20]) or f"Grafana's model reads {len(dashboard['panels'])} panels")
sys.exit(1 if found else 0)
