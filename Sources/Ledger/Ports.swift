/// The queue of commands: decided in order, appended, committed, then answered.
package protocol CommandQueue: Sendable {
    /// Executes a command and returns when its events are durable.
    ///
    /// A refusal is a normal result, not a thrown error.
    func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal>
}

/// One identity of an account as the read model shows it.
package struct LinkedIdentity: Hashable, Sendable {
    package let id: IdentityID
    package let provider: ProviderName
    /// Nil when it was never disclosed or has been erased.
    package let email: Email?
    package let linkedAt: Timestamp
    /// When it is unlinked, because support planned it; nil otherwise.
    package let unlinkDue: Timestamp?

    /// Describes an identity.
    package init(
        id: IdentityID, provider: ProviderName, email: Email?, linkedAt: Timestamp,
        unlinkDue: Timestamp? = nil
    ) {
        self.id = id
        self.provider = provider
        self.email = email
        self.linkedAt = linkedAt
        self.unlinkDue = unlinkDue
    }
}

/// An account as its holder sees it.
package struct LinkedAccount: Hashable, Sendable {
    /// In linking order.
    package let identities: [LinkedIdentity]
    /// Whether support planned the removal of a second factor.
    package let hasPlannedRemoval: Bool

    /// Describes an account.
    package init(identities: [LinkedIdentity], hasPlannedRemoval: Bool) {
        self.identities = identities
        self.hasPlannedRemoval = hasPlannedRemoval
    }
}

/// Reads the `user_providers` read model.
package protocol AccountReader: Sendable {
    /// Returns the caller's account, if the caller's session is live.
    ///
    /// Waits, within a limit, until the read model has caught up with the account, so that all
    /// processes read their own and each other's writes.
    func linkedAccount(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<LinkedAccount, Refusal>
}

extension AccountReader {
    /// Returns the identities of the caller's account in linking order, as ``linkedAccount(of:in:)`` does.
    package func identities(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<[LinkedIdentity], Refusal> {
        try await linkedAccount(of: caller, in: tenant).map { $0.identities }
    }
}

/// The tenants that exist.
package protocol TenantDirectory: Sendable {
    /// Whether a tenant has been created.
    ///
    /// - Throws: `LedgerFault.tenantMoved` for one that is served elsewhere, or being moved.
    func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool

    /// Whether a tenant has been created, wherever it is served.
    func exists(_ tenant: TenantID) async throws(LedgerFault) -> Bool
}
