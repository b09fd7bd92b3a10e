package import Ledger

extension WrappingKeyring {
    /// Encrypts the secret of a second factor, bound to its tenant and account.
    package func seal(
        secret: [UInt8], of factor: HeldFactor, in tenant: TenantID
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        seal(secret, additional: Self.additional(factor, tenant))
    }

    /// Decrypts the secret of a second factor; nil if the key is unknown or anything was changed.
    package func openSecret(
        _ sealed: [UInt8], wrappingKey: String, of factor: HeldFactor, in tenant: TenantID
    ) -> [UInt8]? {
        open(sealed, wrappingKey: wrappingKey, additional: Self.additional(factor, tenant))
    }

    private static func additional(_ factor: HeldFactor, _ tenant: TenantID) -> [UInt8] {
        Array("factor:\(tenant)/\(factor.account)/\(factor.id)/\(factor.kind.rawValue)".utf8)
    }
}
