package import Cryptography
package import Ledger

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

    private static let label = "account-ledger request digest "

    private let keys: PurposeKeys<Purpose>
    /// The end of the time in which plain digests are looked up.
    private let plainUntil: Timestamp

    /// Creates the digests of a ledger.
    ///
    /// - Parameters:
    ///   - current: The name of the encryption key in use.
    ///   - keys: Every encryption key by its name.
    ///   - upgradedAt: The time of the upgrade from a release that stored plain digests.
    package init(current: String, keys: [String: SymmetricKey], upgradedAt: Timestamp) {
        self.keys = PurposeKeys(label: Self.label, current: current, secrets: keys)
        plainUntil = upgradedAt.adding(seconds: Int64(IdempotencyKey.hours) * 3600)
    }

    /// Replaces the keys.
    package func use(current: String, keys: [String: SymmetricKey]) {
        self.keys.use(current: current, secrets: keys)
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
        let keyed = keys.macs(of: plain, purpose).compactMap { key, mac in
            Digest(mac).map { (key: Optional(key), digest: $0) }
        }
        guard now < plainUntil, let plain = Digest(plain) else { return keyed }
        return keyed + [(nil, plain)]
    }
}
