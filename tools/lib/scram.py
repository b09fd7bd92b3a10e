"""Prints the statement that keeps a login's password, read from standard input, with one iteration of SCRAM.

RFC 5802 section 3, as Postgres stores it: SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY.
"""

import base64
import hashlib
import hmac
import os
import sys

login = sys.argv[1]
password = sys.stdin.read().strip().encode()
salt = os.urandom(16)
salted = hashlib.pbkdf2_hmac("sha256", password, salt, 1)
stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
server = hmac.digest(salted, b"Server Key", "sha256")
salt, stored, server = (base64.b64encode(part).decode() for part in (salt, stored, server))
print(f"ALTER ROLE \"{login}\" PASSWORD 'SCRAM-SHA-256$1:{salt}${stored}:{server}';")
