"""Writes an export of another system with made-up people: generate.py FORMAT COUNT DIRECTORY.

The same arguments give the same files, and each format has people of its own. In each hundred people are some with a password, several identities, an
address that was never verified, a block, second factors, and an identity or an address of another person.
"""

import base64
import hashlib
import json
import random
import sys
import uuid

BCRYPT = "$2b$10$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"


class Person:
    def __init__(self, number, generator, format):
        self.number = number
        self.id = f"{number:08x}{generator.getrandbits(64):016x}"
        self.uuid = str(uuid.UUID(int=generator.getrandbits(128), version=4))
        kind = number % 100
        self.email = f"person{number}@{format}.example"
        self.verified = kind != 7
        self.password = 20 <= kind < 60 or kind == 7
        self.identities = []
        if not self.password or kind < 30 and kind != 7:
            self.identities.append(("google", f"1{generator.getrandbits(66):020d}"))
        if kind % 10 == 1:
            self.identities.append(("apple", f"{number:06d}.{generator.getrandbits(64):016x}.1234"))
        if kind == 13:
            self.identities.append(("steam", str(number)))
        if kind == 17 and number >= 100:
            self.identities = [("google", f"{format}{number // 100 * 100}")]
        if kind == 18:
            self.identities = [("google", f"{format}{number // 100 * 100}")]
        if kind == 31 and number >= 100:
            self.email = f"person{number - 1}@{format}.example"
        self.blocked = kind == 42
        self.factors = kind == 43
        self.name = "Ada Example"


def auth0(people, directory):
    names = {"google": "google-oauth2"}
    with open(f"{directory}/auth0.json", "w", encoding="utf-8") as file:
        for person in people:
            identities = [
                {"user_id": subject, "provider": names.get(provider, provider), "isSocial": True,
                 "connection": names.get(provider, provider)}
                for provider, subject in person.identities
            ]
            user = {"email": person.email, "email_verified": person.verified, "name": person.name}
            if person.password:
                identities.insert(0, {
                    "user_id": person.id, "provider": "auth0", "isSocial": False,
                    "connection": "Username-Password-Authentication"})
                user["password_hash"] = BCRYPT
            user["user_id"] = f"{identities[0]['provider']}|{identities[0]['user_id']}"
            user["identities"] = identities
            if person.blocked:
                user["blocked"] = True
            if person.factors:
                user["multifactor"] = ["guardian"]
            file.write(json.dumps(user, separators=(",", ":")) + "\n")


def firebase(people, directory):
    names = {"google": "google.com", "apple": "apple.com"}
    key = base64.b64encode(hashlib.sha512(b"key").digest()).decode()
    with open(f"{directory}/hash-config", "w", encoding="utf-8") as file:
        file.write(f"hash_config {{\n  algorithm: SCRYPT,\n  base64_signer_key: {key},\n"
                   "  base64_salt_separator: Bw==,\n  rounds: 8,\n  mem_cost: 14,\n}\n")
    with open(f"{directory}/firebase.json", "w", encoding="utf-8") as file:
        file.write('{"users": [\n')
        for index, person in enumerate(people):
            user = {
                "localId": person.id[:28], "email": person.email, "emailVerified": person.verified,
                "displayName": person.name, "createdAt": "1700000000000",
                "providerUserInfo": [
                    {"providerId": names.get(provider, provider), "rawId": subject,
                     "email": person.email}
                    for provider, subject in person.identities
                ],
            }
            if person.password:
                user["passwordHash"] = base64.b64encode(
                    hashlib.sha512(person.id.encode()).digest()).decode()
                user["salt"] = base64.b64encode(person.id.encode()[:8]).decode()
            if person.blocked:
                user["disabled"] = True
            if person.factors:
                user["mfaInfo"] = [{"mfaEnrollmentId": "1"}]
            file.write((",\n" if index else "") + json.dumps(user, indent=2))
        file.write("\n]}\n")


def keycloak(people, directory):
    with open(f"{directory}/keycloak.json", "w", encoding="utf-8") as file:
        file.write('{\n  "realm": "example",\n  "users": [\n')
        for index, person in enumerate(people):
            user = {
                "id": person.uuid, "username": person.email, "email": person.email,
                "emailVerified": person.verified, "enabled": not person.blocked,
                "firstName": "Ada", "lastName": "Example",
                "federatedIdentities": [
                    {"identityProvider": provider, "userId": subject, "userName": person.email}
                    for provider, subject in person.identities
                ],
                "credentials": [],
            }
            if person.password:
                digest = hashlib.sha512(person.id.encode()).digest()
                user["credentials"].append({
                    "type": "password",
                    "secretData": json.dumps({
                        "value": base64.b64encode(digest).decode(),
                        "salt": base64.b64encode(digest[:16]).decode()}),
                    "credentialData": json.dumps({
                        "hashIterations": 210000, "algorithm": "pbkdf2-sha512",
                        "additionalParameters": {}}),
                })
            if person.factors:
                user["credentials"].append({"type": "otp"})
            file.write((",\n" if index else "") + "    " + json.dumps(user))
        file.write("\n  ],\n  \"clients\": []\n}\n")


def quoted(value):
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if any(c in value for c in '",\n') else value


def supabase(people, directory):
    identities = []
    with open(f"{directory}/users.csv", "w", encoding="utf-8") as file:
        file.write("id,email,encrypted_password,email_confirmed_at,phone,banned_until,deleted_at,"
                   "raw_user_meta_data\n")
        for person in people:
            row = [
                person.uuid, person.email, BCRYPT if person.password else "",
                "2024-01-01 00:00:00+00" if person.verified else None, None,
                "2999-01-01 00:00:00+00" if person.blocked else None, None,
                json.dumps({"name": person.name}),
            ]
            file.write(",".join(quoted(value) for value in row) + "\n")
            if person.password:
                identities.append((person.uuid, person.uuid, "email", person.email))
            identities += [
                (subject, person.uuid, provider, person.email)
                for provider, subject in person.identities
            ]
    random.Random(2).shuffle(identities)
    with open(f"{directory}/identities.csv", "w", encoding="utf-8") as file:
        file.write("provider_id,user_id,identity_data,provider\n")
        for subject, user, provider, email in identities:
            data = json.dumps({"sub": subject, "email": email, "email_verified": True})
            file.write(",".join(quoted(value) for value in (subject, user, data, provider)) + "\n")


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("auth0", "firebase", "keycloak", "supabase"):
        sys.exit("usage: generate.py auth0|firebase|keycloak|supabase COUNT DIRECTORY")
    format, count, directory = sys.argv[1:]
    generator = random.Random(format)
    people = (Person(number, generator, format) for number in range(int(count)))
    {"auth0": auth0, "firebase": firebase, "keycloak": keycloak, "supabase": supabase}[format](
        people, directory)


if __name__ == "__main__":
    main()
