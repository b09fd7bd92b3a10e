"""Checks deliveries with the standardwebhooks library, which is not ours.

    check_webhooks.py DELIVERIES

Each line of the file is a delivery as JSON, with the secret that its receiver has and the time at which
it came; "valid" says whether the library has to take it. Prints how many it took and refused, and ends
with 1 at the first one that is not what it says.
"""

import base64
import json
import sys
from collections import Counter
from datetime import datetime

from standardwebhooks import Webhook, webhooks


class TimeOfReceipt(datetime):
    """The clock of the library: it refuses what is five minutes old."""

    at = 0.0

    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(cls.at, tz)


webhooks.datetime = TimeOfReceipt


def holds(delivery):
    TimeOfReceipt.at = delivery["received_at"]
    headers = {name: delivery[name] for name in delivery if name.startswith("webhook-")}
    try:
        Webhook(delivery["secret"]).verify(base64.b64decode(delivery["body"]), headers)
        return True
    except webhooks.WebhookVerificationError:
        return False


counts = Counter()
with open(sys.argv[1], encoding="utf-8") as deliveries:
    for number, line in enumerate(deliveries, 1):
        delivery = json.loads(line)
        if holds(delivery) != delivery["valid"]:
            sys.exit(f"delivery {number} is not what it says: {line.strip()}")
        counts[delivery["valid"]] += 1
print("valid", counts[True], "invalid", counts[False])
