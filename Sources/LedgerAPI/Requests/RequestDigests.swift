package import Cryptography
package import Ledger
internal import Synchronization

/// Computes the digests under which the ledger stores a client's input: idempotency keys, contents and
/// credentials.
///
/// HMAC-SHA256 over the SHA-256 of the input, under a key for each purpose, derived by HKDF from an
/// encryption key of the key directory: access to the database alone does not reveal the input. Digests
/// by every key are looked up, so that a rotation forgets nothing, and for a day after the upgrade also
/// the plain SHA-256 that a former release stored.
package final class RequestDigests: Sendable {
    private enum Purpose: String, CaseIterable {
        case idempotencyScope = "idempotency-scope"
        case idempotencyContent = "idempotency-content"
        case attempt
    }

    /// A key of the directory, with the keys that are derived from it.
    private struct Keys {
        let id: String
        let keys: [Purpose: HMACKey]
    }

    private static let label = "account-ledger request digest "

    /// The keys, the one in use first.
    private let keys: Mutex<[Keys]>
    /// The end of the time in which plain digests are looked up.
    private let plainUntil: Timestamp

    /// Creates the digests of a ledger.
    ///
    /// - Parameters:
    ///   - current: The name of the encryption key in use.
    ///   - keys: Every encryption key by its name.
    ///   - upgradedAt: The time of the upgrade from a release that stored plain digests.
    package init(current: String, keys: [String: SymmetricKey], upgradedAt: Timestamp) {
        self.keys = Mutex(Self.derived(current, keys))
        plainUntil = upgradedAt.adding(seconds: Int64(IdempotencyKey.hours) * 3600)
    }

    /// Replaces the keys.
    package func use(current: String, keys: [String: SymmetricKey]) {
        let derived = Self.derived(current, keys)
        self.keys.withLock { $0 = derived }
    }

    private static func derived(_ current: String, _ keys: [String: SymmetricKey]) -> [Keys] {
        let ids = [current] + keys.keys.filter { $0 != current }.sorted()
        return ids.compactMap { id in
            guard let secret = keys[id] else { return nil }
            return Keys(
                id: id,
                keys: Dictionary(
                    uniqueKeysWithValues: Purpose.allCases.map {
                        let key = HKDFSHA256.key(from: secret, label: label + $0.rawValue)
                        return ($0, HMACKey(key))
                    }))
        }
    }

    /// Returns the digests of a credential, by which attempts are counted, from its SHA-256.
    func attempt(_ plain: Digest, at now: Timestamp) -> KeyedDigest {
        let forms = forms(of: plain.bytes, .attempt, at: now)
            .map { KeyedDigest($0.digest, key: $0.key) }
        let current = Self.first(of: forms)
        return KeyedDigest(current.digest, key: current.key, former: Array(forms.dropFirst()))
    }

    /// Returns the digests of a request with an idempotency key.
    ///
    /// - Parameters:
    ///   - scope: What the key names: the method, the path and the key itself.
    ///   - content: What must be the same when the key is used again.
    ///   - account: The account that the answer is kept with.
    ///   - now: The time of the request.
    /// - Returns: The key with its digests.
    func idempotencyKey(
        scope: [UInt8], content: [UInt8], of account: AccountID, at now: Timestamp
    ) -> IdempotencyKey {
        let forms = zip(
            forms(of: SHA256.hash(scope), .idempotencyScope, at: now),
            forms(of: SHA256.hash(content), .idempotencyContent, at: now)
        ).map { scope, content in
            IdempotencyKey(
                scope: IdempotencyScope(account: account, digest: scope.digest),
                fingerprint: content.digest, key: scope.key)
        }
        let current = Self.first(of: forms)
        return IdempotencyKey(
            scope: current.scope, fingerprint: current.fingerprint, key: current.key,
            former: Array(forms.dropFirst()))
    }

    private static func first<Form>(of forms: [Form]) -> Form {
        guard let first = forms.first else {
            preconditionFailure("a ledger has an encryption key")
        }
        return first
    }

    private func forms(
        of plain: [UInt8], _ purpose: Purpose, at now: Timestamp
    ) -> [(key: String?, digest: Digest)] {
        let keyed: [(key: String?, digest: Digest)] = keys.withLock(\.self).compactMap { keys in
            guard let digest = keys.keys[purpose].flatMap({ Digest($0.mac(of: plain)) }) else {
                return nil
            }
            return (keys.id, digest)
        }
        guard now < plainUntil, let plain = Digest(plain) else { return keyed }
        return keyed + [(nil, plain)]
    }
}
