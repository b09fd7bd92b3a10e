/// A stored second factor with its secret.
package struct StoredFactor: Sendable {
    package let factor: HeldFactor
    /// As in ``NewFactor``.
    package let secret: [UInt8]
    /// As in ``NewFactor``, since the last use.
    package let counter: Int64

    /// Describes a factor.
    package init(factor: HeldFactor, secret: [UInt8], counter: Int64) {
        self.factor = factor
        self.secret = secret
        self.counter = counter
    }
}

/// Reads second factors.
package protocol FactorStore: Sendable {
    /// Returns the factors of an account and its recovery codes, in the order of their enrolment.
    ///
    /// The command that relies on one checks it again.
    func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor]
}
