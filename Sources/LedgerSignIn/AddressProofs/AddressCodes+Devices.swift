internal import Cryptography
internal import Encodings
package import Ledger

/// The tokens by which a device is known to an address that it has proved, and to an account whose second factor it
/// has given.
///
/// 16 random bytes, 16 of their MAC with the address, and 16 of their MAC with the account if there was a factor, so
/// that nothing is stored. A sign-in without the factor makes no device known to the account: a stranger with the
/// password could collect tokens before the first enrolment, and guess codes with them.
extension AddressCodes {
    private static let tokenBytes = 16

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
        if address == nil, account == nil { return nil }
        let byAddress = token.flatMap { token in
            address.flatMap { device(token, of: $0.text, $0.kind, in: tenant) }
        }
        let byAccount = token.flatMap { token in
            account.flatMap { device(token, of: $0, in: tenant) }
        }
        if let token, address == nil || byAddress != nil, account == nil || byAccount != nil {
            return token
        }
        let id =
            (byAddress ?? byAccount).flatMap { Base64URL.decode($0) }
            ?? SecureRandom.bytes(Self.tokenBytes)
        var parts = [address.map { names(of: $0.text, $0.kind) } ?? names()]
        if let account { parts.append(names(of: account)) }
        return Base64URL.encode(
            id + parts.flatMap { macs(of: id, $0, in: tenant).first ?? [] })
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
        device(token, part: 1, names(of: address, kind), in: tenant)
    }

    /// Returns the name of a device; nil for a token that no key has made for the account.
    func device(_ token: String, of account: AccountID, in tenant: TenantID) -> String? {
        device(token, part: 2, names(of: account), in: tenant)
    }

    private func device(
        _ token: String, part: Int, _ names: [String], in tenant: TenantID
    ) -> String? {
        guard let bytes = Base64URL.decode(token),
            [2 * Self.tokenBytes, 3 * Self.tokenBytes].contains(bytes.count),
            bytes.count > part * Self.tokenBytes
        else { return nil }
        let id = Array(bytes.prefix(Self.tokenBytes))
        let presented = Array(bytes.dropFirst(part * Self.tokenBytes).prefix(Self.tokenBytes))
        let isKnown = macs(of: id, names, in: tenant).contains { constantTimeEqual($0, presented) }
        return isKnown ? Base64URL.encode(id) : nil
    }

    private func macs(of id: [UInt8], _ names: [String], in tenant: TenantID) -> [[UInt8]] {
        let message = Self.message([tenant.description] + names + [Base64URL.encode(id)])
        return keys.macs(of: message, .device).map { Array($0.mac.prefix(Self.tokenBytes)) }
    }

    private func names(of address: String, _ kind: AddressKind) -> [String] {
        [kind.rawValue, address]
    }

    private func names(of account: AccountID) -> [String] { ["account", account.description] }

    /// Returns the names of a token without an address.
    private func names() -> [String] { ["none", ""] }
}
