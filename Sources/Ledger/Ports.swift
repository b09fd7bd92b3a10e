/// Why a command or a read could not be carried out: nothing that the caller did.
package enum LedgerFault: Error, Hashable, Sendable {
    /// The queue is full, or it took too long to come to its head; nothing was done.
    case overloaded
    /// The database is away or slow; whether a command was done is not known.
    case unavailable
    /// The program contradicts itself; what happened is in its own log.
    case internalFailure
}

/// Where commands go: decided in order, appended, committed, then answered.
package protocol CommandQueue: Sendable {
    /// Carries a command out and comes back when its events are durable.
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

    /// Describes an identity.
    package init(id: IdentityID, provider: ProviderName, email: Email?, linkedAt: Timestamp) {
        self.id = id
        self.provider = provider
        self.email = email
        self.linkedAt = linkedAt
    }
}

/// Reads of the `user_providers` read model.
package protocol AccountReader: Sendable {
    /// The identities of the caller's account in linking order, when the caller's session lives.
    ///
    /// Waits, within a limit, until the read model has caught up with the account, so that everybody
    /// reads their own writes, whichever process took them.
    func identities(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<[LinkedIdentity], Refusal>
}

/// Which tenants exist.
package protocol TenantDirectory: Sendable {
    /// Whether a tenant has been created.
    func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool
}
