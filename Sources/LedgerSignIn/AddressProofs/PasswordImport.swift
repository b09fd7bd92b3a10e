internal import JSON
package import Ledger

/// A line of a file with the passwords of another system: a JSON object with a verified e-mail address and a hash.
package struct PasswordImport: Sendable {
    /// The reason why a line can't be imported; its text has no personal data.
    package enum Flaw: String, Error, CaseIterable, Sendable {
        case notAnObject = "the line is not a JSON object"
        case unknownMember =
            "the line has a member other than email, email_verified, hash, provider, provider_id"
        case invalidEmail = "email is missing or not an address"
        case unverified =
            "email_verified is not true: an address that was never proved finds no account"
        case invalidHolder = "provider and provider_id are not the names of one identity"
        case noHash = "hash is missing"
    }

    private static let members: Set<String> = [
        "email", "email_verified", "hash", "provider", "provider_id",
    ]

    /// The canonical form of the address.
    private let email: String
    /// The identity whose account gets the password; nil for the account of the address.
    private let holder: Subject?
    /// The hash in the form of the other system.
    package let hash: String

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - localParts: Those of addresses that the tenant takes.
    /// - Throws: The first flaw.
    package init(
        _ line: [UInt8], _ localParts: EmailLocalParts = .ascii
    ) throws(Flaw) {
        guard let object = JSONValue(parsing: line)?.members else { throw .notAnObject }
        guard object.keys.allSatisfy(Self.members.contains) else { throw .unknownMember }
        guard case .string(let typed)? = object["email"],
            let email = localParts.canonical(typed)
        else { throw .invalidEmail }
        guard case .bool(true)? = object["email_verified"] else { throw .unverified }
        guard case .string(let hash)? = object["hash"] else { throw .noHash }
        switch (object["provider"], object["provider_id"]) {
        case (nil, nil): holder = nil
        case (.string(let name)?, .string(let id)?):
            guard let provider = ProviderName(name),
                let subject = Subject(provider: provider, providerID: id)
            else { throw .invalidHolder }
            holder = subject
        default: throw .invalidHolder
        }
        (self.email, self.hash) = (email, hash)
    }

    /// Returns the command that imports the password in the operator's name.
    ///
    /// - Parameters:
    ///   - password: The hash as it is stored.
    ///   - provider: The provider of type `password`.
    ///   - tenant: The tenant of the provider.
    ///   - names: Makes the names of addresses.
    ///   - newID: Returns 128 random bits.
    ///   - now: The time of the import.
    /// - Returns: nil when no key of the directory makes names.
    package func command(
        _ password: NewPassword, for provider: ProviderName, in tenant: TenantID,
        names: AddressNames, newID: () -> UInt128, at now: Timestamp
    ) -> ImportPassword? {
        let names = names.all(of: email, .email, in: tenant)
        let address = AddressID(at: now, random: newID())
        guard !names.isEmpty,
            let subject = Subject(provider: provider, providerID: address.description)
        else { return nil }
        let proof = Proof(
            subject, authenticatedAt: now, methods: .password,
            email: Email(email, isVerified: true),
            address: ProvedAddress(kind: .email, text: email, names: names, newID: address),
            newPassword: password)
        return ImportPassword(
            proof, holder: holder, actor: .system, newAccount: AccountID(at: now, random: newID()),
            newIdentity: IdentityID(at: now, random: newID()))
    }
}
