package import Cryptography
package import Ledger

extension WrappingKeyring {
    /// Encrypts the hash of a password, bound to its tenant and its version.
    package func seal(
        _ password: NewPassword, of version: PasswordVersion, in tenant: TenantID,
        by sealer: AESGCMSealer = AESGCMSealer()
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        seal(
            Array(password.hash.utf8), additional: Self.additional(version, tenant), by: sealer)
    }

    /// Decrypts the hash of a password; nil if the key is unknown or anything was changed.
    package func openPassword(
        _ sealed: [UInt8], wrappingKey: String, of version: PasswordVersion, in tenant: TenantID
    ) -> String? {
        open(sealed, wrappingKey: wrappingKey, additional: Self.additional(version, tenant))
            .flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func additional(_ version: PasswordVersion, _ tenant: TenantID) -> [UInt8] {
        Array("password:\(tenant)/\(version.identity)/\(version.version)".utf8)
    }
}
