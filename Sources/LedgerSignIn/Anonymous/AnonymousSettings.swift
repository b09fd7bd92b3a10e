package import Ledger

/// The settings of anonymous accounts.
package struct AnonymousSettings: Sendable {
    private static let retentionDaysMax: Int64 = 3650

    /// The accounts that may be opened.
    package let budget: OpeningBudget
    /// The days without use after which an account is erased while it is anonymous; nil for never.
    package let retentionDays: Int?
    /// The service that decides which clients may open an account; nil for any client.
    package let attestation: AttestationHook?

    /// Describes anonymous accounts.
    package init(
        budget: OpeningBudget, retentionDays: Int? = nil, attestation: AttestationHook? = nil
    ) {
        self.budget = budget
        self.retentionDays = retentionDays
        self.attestation = attestation
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        try object.allow(
            StrictObject.commonMembers.union(OpeningBudget.members)
                .union(["retention_days", "attestation"]))
        budget = try OpeningBudget(object)
        retentionDays = try object.optionalNumber("retention_days", 1...Self.retentionDaysMax)
            .map { Int($0) }
        attestation =
            try object.has("attestation") ? AttestationHook(object.object("attestation")) : nil
    }

    /// Counts an account that a client opens, and has its attestation checked.
    ///
    /// The budget comes first, so that a network without budget calls no service and uses up no attestation. An account
    /// that is not opened does not count: otherwise, made-up attestations would use up the budget of genuine clients.
    ///
    /// - Throws: `limited` when the budget is used up, or after too many refused attestations of the client's network;
    ///   the flaws of ``AttestationHook/check(_:of:at:in:at:)``.
    package func admit(
        _ body: AnonymousBody, by client: CodeClient, at provider: ProviderName,
        in tenant: TenantID, at now: Timestamp
    ) async throws(Credential.Flaw) {
        if let seconds = budget.take(for: client.network, at: now) {
            throw .limited(retryAfterSeconds: seconds)
        }
        guard let attestation else { return }
        do throws(Credential.Flaw) {
            try await Optional(client).asking(in: tenant, at: now) {
                () async throws(Credential.Flaw) in
                try await attestation.check(
                    body.attestation, of: client, at: provider, in: tenant, at: now)
            }
        } catch {
            budget.giveBack(to: client.network)
            throw error
        }
    }
}
