package import Cryptography
internal import Encodings
package import Ledger

/// Issues and recognises plan digests: the plan, when it was shown, and a MAC that only the ledger
/// can compute.
///
/// The base64url form of `time(8) || SHA-256 of the plan(32) || MAC(32)`, where the time is in
/// microseconds since 1970 and the MAC is HMAC-SHA256 over `"merge-plan:" || tenant || 0 ||
/// survivor || time || plan`. It cannot be known before the plan is shown, so an ID token that
/// carries it as its nonce was requested by a client that has seen the plan, and one without a nonce
/// can be checked to be newer than the plan.
package struct MergePlanDigests: Sendable {
    /// The lifetime of a plan, in seconds.
    package static let lifetimeSeconds: Int64 = 900

    /// A plan that was shown.
    package struct Shown: Sendable {
        package let plan: Digest
        package let at: Timestamp
    }

    private static let label = Array("merge-plan:".utf8)
    private static let timeByteCount = 8
    private static let byteCount = timeByteCount + 2 * Digest.byteCount

    private let key: HMACKey

    /// Uses the secret that all processes of the ledger share.
    package init(key: SymmetricKey) {
        self.key = HMACKey(key)
    }

    /// Returns the digest that a client gets for a plan of a survivor's.
    package func issue(
        _ plan: Digest, for survivor: AccountID, in tenant: TenantID, at now: Timestamp
    ) -> String {
        let signed = Self.bytes(of: now) + plan.bytes
        return Base64URL.encode(signed + mac(for: signed, survivor, tenant))
    }

    /// Reads a digest from a client; nil unless it was issued for this survivor and has not
    /// expired.
    package func read(
        _ text: String, for survivor: AccountID, in tenant: TenantID, at now: Timestamp,
        lifetime: Int64 = Self.lifetimeSeconds
    ) -> Shown? {
        guard let bytes = Base64URL.decode(text), bytes.count == Self.byteCount else { return nil }
        let signed = Array(bytes.prefix(Self.timeByteCount + Digest.byteCount))
        let presented = Array(bytes.suffix(Digest.byteCount))
        guard constantTimeEqual(mac(for: signed, survivor, tenant), presented),
            let plan = Digest(Array(signed.suffix(Digest.byteCount)))
        else { return nil }
        let microseconds = signed.prefix(Self.timeByteCount).reduce(Int64(0)) {
            $0 << 8 | Int64($1)
        }
        let shown = Timestamp(microseconds: microseconds)
        guard now < shown.adding(seconds: lifetime) else { return nil }
        return Shown(plan: plan, at: shown)
    }

    private func mac(for signed: [UInt8], _ survivor: AccountID, _ tenant: TenantID) -> [UInt8] {
        let context = Self.label + Array("\(tenant)\0\(survivor)\0".utf8)
        return key.mac(of: context + signed)
    }

    private static func bytes(of time: Timestamp) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: time.microseconds >> Int64($0))
        }
    }
}
