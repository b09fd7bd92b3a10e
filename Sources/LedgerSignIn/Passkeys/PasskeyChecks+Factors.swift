package import Ledger
internal import Passkeys

/// Passkeys that are second factors.
extension PasskeyChecks {
    /// Checks the response of the registration of a second factor.
    ///
    /// - Returns: The factor, and the challenge as the command uses it up; nil for anything but the response to an
    ///   open challenge of the caller's session, and for a passkey by which an account is reached.
    /// - Throws: the fault of the store.
    func confirm(
        _ body: PasskeyBody, as id: FactorID, by caller: Caller, of provider: ProviderName,
        _ settings: PasskeySettings, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> (factor: NewFactor, token: SingleUseIDToken)? {
        guard body.isRegistration,
            let opened = open(
                body, for: .enrolment(caller), of: provider, settings, in: tenant, at: now),
            let record = registered(body, opened)?.record,
            let subject = Self.subject(
                record.passkey.credentialID, provider, of: settings.relyingParty)
        else { return nil }
        guard try await store.passkey(of: subject, in: tenant) == nil else { return nil }
        let stored = PasskeyRecord(
            record.passkey, transports: record.transports, isBackedUp: record.isBackedUp,
            domain: settings.relyingParty.id
        ).stored
        return (
            NewFactor(
                id: id, kind: .passkey, secret: Array(stored.hash.utf8),
                counter: Int64(stored.passkeyCount ?? 0),
                passkey: (subject: subject, domain: settings.relyingParty.id)), opened.token
        )
    }

    /// Checks the use of a second factor, which may follow one first step.
    ///
    /// - Returns: The use with the counter of the authenticator; nil for anything but the factor's response to an open
    ///   challenge of that step.
    func use(
        _ body: PasskeyBody, by factor: StoredFactor, after step: String,
        among providers: [PasskeyProvider], in tenant: TenantID, at now: Timestamp
    ) -> FactorUse? {
        guard let record = factor.passkey, let (provider, settings) = providers.of(record),
            let opened = open(
                body, for: .secondStep(step), of: provider, settings, in: tenant, at: now),
            let response = try? AssertionResponse(body.credential),
            let use = try? opened.ceremony.verify(response, of: record.passkey)
        else { return nil }
        let count = Int64(use.signatureCount)
        // The record has the counter of the enrolment, the factor that of the last use, or of the enrolment before it.
        if count <= factor.counter, factor.counter > 0 {
            let isRefused = settings.refusesCounterRollback
            onCounterFault(tenant, factor.factor.holder, isRefused)
            if isRefused { return nil }
        }
        return FactorUse(
            factor: factor.factor.id, counter: count,
            comparesCounter: settings.refusesCounterRollback)
    }
}

/// A provider of passkeys of a tenant.
package typealias PasskeyProvider = (name: ProviderName, settings: PasskeySettings)

extension [PasskeyProvider] {
    /// Returns the provider for whose domain a second factor was made.
    func of(_ record: PasskeyRecord) -> PasskeyProvider? {
        first { $0.settings.relyingParty.id == record.domain }
    }
}

extension StoredFactor {
    /// The passkey; nil for any other kind.
    var passkey: PasskeyRecord? {
        factor.kind == .passkey ? PasskeyRecord(String(decoding: secret, as: UTF8.self)) : nil
    }
}
