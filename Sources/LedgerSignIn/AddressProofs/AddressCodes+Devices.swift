internal import Cryptography
internal import Encodings
package import Ledger

/// The tokens by which a device is known to addresses that it has proved, and to accounts whose second factor it has
/// given.
///
/// 16 random bytes, and up to five MACs of them with an address or an account, of 16 bytes each, the newest one first,
/// so that nothing is stored. A sign-in without the factor makes no device known to the account: a stranger with the
/// password could collect tokens before the first enrolment, and guess codes with them. The random bytes prove nothing
/// without a MAC, so those of a presented token are kept, of any origin.
extension AddressCodes {
    private static let partBytes = 16
    private static let macsMax = 5

    /// The maximum length of a token, in Base64url.
    package static let deviceTokenBytesMax = 128

    /// Returns the token of a device that has just signed in: the presented one, or a new one.
    ///
    /// - Parameters:
    ///   - address: The address that the sign-in proved, if it did.
    ///   - account: The account, if the sign-in included its second factor.
    ///   - token: The token that the client presented.
    ///   - tenant: The tenant.
    /// - Returns: nil without an address and an account.
    package func deviceToken(
        for address: ProvedAddress?, _ account: AccountID?, presented token: String?,
        in tenant: TenantID
    ) -> String? {
        let proved = [address.map { names(of: $0.text, $0.kind) }, account.map { names(of: $0) }]
            .compactMap(\.self)
        guard !proved.isEmpty else { return nil }
        let presented = token.flatMap { Self.parts(of: $0) } ?? []
        if let token, proved.allSatisfy({ isKnown(presented, to: $0, in: tenant) }) { return token }
        let id = presented.first ?? SecureRandom.bytes(Self.partBytes)
        let own = proved.compactMap { macs(of: id, $0, in: tenant).first }
        let others = presented.dropFirst().filter { !own.contains($0) }
        return Base64URL.encode(id + (own + others).prefix(Self.macsMax).flatMap { $0 })
    }

    /// Whether a token shows that its device has signed in with an address, or to an account with its second factor.
    package func isKnown(
        _ token: String?, to address: ProvedAddress?, _ account: AccountID?, in tenant: TenantID
    ) -> Bool {
        guard let token else { return false }
        return address.flatMap { device(token, of: $0.text, $0.kind, in: tenant) } != nil
            || account.flatMap { device(token, of: $0, in: tenant) } != nil
    }

    /// Returns the name of a device; nil for a token that no key has made for the address.
    func device(
        _ token: String, of address: String, _ kind: AddressKind, in tenant: TenantID
    ) -> String? {
        device(token, names(of: address, kind), in: tenant)
    }

    /// Returns the name of a device; nil for a token that no key has made for the account.
    func device(_ token: String, of account: AccountID, in tenant: TenantID) -> String? {
        device(token, names(of: account), in: tenant)
    }

    private func device(_ token: String, _ names: [String], in tenant: TenantID) -> String? {
        guard let parts = Self.parts(of: token), isKnown(parts, to: names, in: tenant) else {
            return nil
        }
        return parts.first.map { Base64URL.encode($0) }
    }

    /// Whether one of the MACs of a token is that of its device with an address or an account.
    private func isKnown(
        _ parts: [[UInt8]], to names: [String], in tenant: TenantID
    ) -> Bool {
        guard let id = parts.first else { return false }
        let macs = macs(of: id, names, in: tenant)
        return parts.dropFirst().contains { part in
            macs.contains { constantTimeEqual($0, part) }
        }
    }

    /// Returns the random bytes of a token and its MACs; nil for another text.
    private static func parts(of token: String) -> [[UInt8]]? {
        guard token.utf8.count <= deviceTokenBytesMax, let bytes = Base64URL.decode(token),
            bytes.count.isMultiple(of: partBytes), bytes.count >= 2 * partBytes
        else { return nil }
        return stride(from: 0, to: bytes.count, by: partBytes).map {
            Array(bytes[$0..<$0 + partBytes])
        }
    }

    private func macs(of id: [UInt8], _ names: [String], in tenant: TenantID) -> [[UInt8]] {
        let message = Self.message([tenant.description] + names + [Base64URL.encode(id)])
        return keys.macs(of: message, .device).map { Array($0.mac.prefix(Self.partBytes)) }
    }

    private func names(of address: String, _ kind: AddressKind) -> [String] {
        [kind.rawValue, address]
    }

    private func names(of account: AccountID) -> [String] { ["account", account.description] }
}
