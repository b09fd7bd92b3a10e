package import Ledger

/// The configuration of one provider of one tenant.
package final class ProviderConfiguration: Sendable {
    /// The name in paths, entries and answers.
    package let name: ProviderName
    /// The name shown in messages.
    package let displayName: String
    /// The type and the issuers, as the rules have them.
    package let pin: ProviderPin
    /// The settings of its type.
    package let settings: ProviderSettings
    /// Whether account holders are told of sign-ins from devices that their accounts did not know.
    package let noticesNewDevices: Bool

    /// Describes a provider; the display name defaults to the capitalised name, and the pin to that of
    /// the settings.
    package init(
        name: ProviderName, displayName: String? = nil, pin: ProviderPin? = nil,
        settings: ProviderSettings, noticesNewDevices: Bool = true
    ) {
        self.name = name
        self.displayName = displayName ?? Self.capitalized(name)
        self.pin = pin ?? settings.pin
        self.settings = settings
        self.noticesNewDevices = noticesNewDevices
    }

    /// Returns a name with its first letter in upper case.
    static func capitalized(_ name: ProviderName) -> String {
        let text = name.description
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Checks the code of a password's reset.
    ///
    /// - Returns: The proof of the address.
    /// - Throws: The reason why it proves nothing.
    package func proveReset(
        _ code: CodeBody, in tenant: TenantID, by client: CodeClient, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        try await PasswordProver(provider: name).proveReset(code, by: client, in: tenant, at: now)
    }

    /// Checks the code of a change of address, or of the return of a former one.
    ///
    /// - Returns: The proof of the address.
    /// - Throws: The reason why it proves nothing.
    package func proveAddress(
        _ code: CodeBody, for cause: AddressChanged.Cause, in tenant: TenantID,
        by client: CodeClient, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let use: RequiredUse
        switch (cause, client.caller) {
        case (.change, let caller?): use = .change(caller)
        case (.change, nil): throw .wrongCode
        case (.takenBack, _): use = .takeBack
        }
        return try await CodeProver(provider: name)
            .prove(code, by: client, in: tenant, for: use, at: now)
    }

    /// Checks a credential of a tenant, which must have been made for the purpose.
    ///
    /// - Parameters:
    ///   - body: the credential.
    ///   - tenant: the tenant.
    ///   - purpose: the use of the proof.
    ///   - client: the client; without it, no code proves anything.
    ///   - now: the time of the request.
    /// - Returns: the proof.
    /// - Throws: the reason why it proves nothing.
    package func prove(
        _ body: CredentialBody, in tenant: TenantID, for purpose: ProofPurpose,
        by client: CodeClient? = nil, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        try await settings.prove(
            body, of: name, in: tenant, for: purpose, by: client, at: now)
    }
}
