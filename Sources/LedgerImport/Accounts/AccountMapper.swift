package import Ledger
package import LedgerSignIn
package import Passwords

/// Makes the commands that import accounts.
package struct AccountMapper: Sendable {
    /// A command, with what of the account it leaves out.
    package struct Mapped: Sendable {
        /// Nil when the account has nothing to sign in with.
        package let command: ImportAccount?
        package let losses: [Loss]
        /// The names in the file of the providers that the tenant lacks.
        package let unknownProviders: [String]
    }

    private let format: ImportFormat
    /// The tenant's rules.
    package let policy: TenantPolicy
    private let given: [String: ProviderName]
    /// The tenant's providers by their names in the other system.
    private let known: [String: ProviderName]
    private let names: AddressNames
    private let tenant: TenantID
    private let localParts: EmailLocalParts
    private var isPreview: Bool
    private let disabledReason: String
    private let hasher: PasswordHasher
    private let passwordProvider: ProviderName?
    private let emailProvider: ProviderName?
    private let phoneProvider: ProviderName?
    /// The claims of the file that give way to a proof.
    package var provedClaims = ProvedClaims()

    /// Creates a mapper.
    ///
    /// - Parameters:
    ///   - format: The format of the accounts.
    ///   - policy: The tenant's rules.
    ///   - given: The ledger's providers by their names in the other system, where the operator says so.
    ///   - names: Makes the names of addresses.
    ///   - tenant: The tenant.
    ///   - localParts: Those of addresses that the tenant takes.
    ///   - isPreview: Whether nothing is imported.
    ///   - reason: The reason that is disclosed for accounts that come disabled.
    ///   - peppers: The keys of the hashes that wrap weak ones.
    package init(
        _ format: ImportFormat, under policy: TenantPolicy, given: [String: ProviderName],
        names: AddressNames, tenant: TenantID, localParts: EmailLocalParts = .ascii,
        isPreview: Bool, reason: String, peppers: PasswordPeppers = .none
    ) {
        self.format = format
        self.policy = policy
        self.given = given
        known = format.providers(of: policy.providers.mapValues(\.type))
        self.names = names
        self.tenant = tenant
        self.localParts = localParts
        self.isPreview = isPreview
        disabledReason = reason
        hasher = PasswordHasher(peppers: peppers)
        func first(_ type: ProviderType, _ name: String) -> ProviderName? {
            let named = given[name]
            if let named, policy.providers[named]?.type == type { return named }
            return policy.providers.filter { $0.value.type == type }.keys.min()
        }
        passwordProvider = first(.password, "password")
        emailProvider = first(.email, "email")
        phoneProvider = first(.phone, "phone")
    }

    /// Returns the provider of the ledger for an identity; nil when the tenant has none.
    private func provider(_ identity: SourceAccount.Federated) -> ProviderName? {
        let names = identity.givenNames.isEmpty ? [identity.provider] : identity.givenNames
        guard let provider = names.lazy.compactMap({ given[$0] }).first else {
            return known[identity.provider]
        }
        return policy.providers[provider]?.type.isFederated == true ? provider : nil
    }

    /// Whether accounts claim e-mails that were not verified, by their passwords.
    package var hasClaims: Bool { policy.confirmLater && passwordProvider != nil }

    /// The same mapper for commands that change nothing.
    package var preview: AccountMapper {
        var mapper = self
        mapper.isPreview = true
        return mapper
    }

    /// Makes the command for an account.
    ///
    /// A weak hash is wrapped, which takes about 20 ms: call it on threads for blocking work.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - now: The time of the import.
    ///   - newID: Returns 128 random bits.
    /// - Returns: The command; nil when no name can be made of the account's id.
    package func map(
        _ account: SourceAccount, at now: Timestamp, newID: () -> UInt128
    ) -> Mapped? {
        guard let name = ExternalName(source: format.source, id: account.id) else { return nil }
        var account = account
        var identities: [ImportAccount.Identity] = []
        var unknownProviders: [String] = []
        account.lose(.tooManyIdentities, if: account.federated.count > SourceAccount.identitiesMax)
        for federated in account.federated.prefix(SourceAccount.identitiesMax) {
            guard let provider = provider(federated) else {
                account.lose(.unknownProvider)
                unknownProviders.append(federated.provider)
                continue
            }
            guard let subject = Subject(provider: provider, providerID: federated.subject) else {
                account.lose(.invalidSubject)
                continue
            }
            identities.append(
                ImportAccount.Identity(
                    subject,
                    email: federated.email.flatMap { Self.disclosable($0) }
                        .map { Email($0, isVerified: federated.isEmailVerified ?? false) },
                    newID: IdentityID(at: now, random: newID())))
        }
        var addresses = emails(of: &account, at: now, newID: newID)
        if let phone = account.phone {
            let ways = phoneProvider.map {
                [ImportAccount.Way($0, newID: IdentityID(at: now, random: newID()))]
            }
            addresses += address(phone, .phone, ways ?? [], of: &account, at: now, newID: newID)
        }
        guard !identities.isEmpty || !addresses.isEmpty else {
            return Mapped(
                command: nil, losses: account.losses, unknownProviders: unknownProviders)
        }
        return Mapped(
            command: ImportAccount(
                name, identities: identities, addresses: addresses, actor: .system,
                newAccount: AccountID(at: now, random: newID()),
                disabledReason: account.isDisabled ? disabledReason : nil, isPreview: isPreview),
            losses: account.losses, unknownProviders: unknownProviders)
    }

    /// Returns the e-mail address that the account gets or claims, if it has one.
    private func emails(
        of account: inout SourceAccount, at now: Timestamp, newID: () -> UInt128
    ) -> [ImportAccount.Address] {
        guard let email = account.email else { return [] }
        let ways = ways(of: &account, at: now, newID: newID)
        return address(email, .email, ways, of: &account, at: now, newID: newID)
    }

    /// Returns the ways to sign in with the e-mail address: the password, and codes without one.
    private func ways(
        of account: inout SourceAccount, at now: Timestamp, newID: () -> UInt128
    ) -> [ImportAccount.Way] {
        guard account.email?.isVerified == true else {
            return claim(of: account, at: now, newID: newID)
        }
        var ways: [ImportAccount.Way] = []
        var adopted: NewPassword?
        if let hash = account.hash {
            adopted = adopt(hash)
            account.lose(.unsupportedHash, if: adopted == nil)
        } else {
            account.lose(
                .passwordNotInFile,
                if: account.hasPassword && !account.losses.contains(.unsupportedHash))
        }
        if let adopted, let passwordProvider {
            ways.append(
                ImportAccount.Way(
                    passwordProvider, newID: IdentityID(at: now, random: newID()),
                    password: adopted))
        }
        if account.hasCodes || ways.isEmpty, let emailProvider {
            ways.append(
                ImportAccount.Way(emailProvider, newID: IdentityID(at: now, random: newID())))
        }
        return ways
    }

    /// Returns the password with which the account claims an address that was not verified, if the tenant has claims.
    private func claim(
        of account: SourceAccount, at now: Timestamp, newID: () -> UInt128
    ) -> [ImportAccount.Way] {
        guard hasClaims, let passwordProvider, let adopted = account.hash.flatMap(adopt)
        else { return [] }
        return [
            ImportAccount.Way(
                passwordProvider, newID: IdentityID(at: now, random: newID()), password: adopted)
        ]
    }

    private func adopt(_ hash: String) -> NewPassword? {
        if isPreview { return (try? PasswordHash(hash)).map { NewPassword(hash: $0.text) } }
        return (try? hasher.adopt(hash)).map { NewPassword(hash: $0.text) }
    }

    private func address(
        _ own: SourceAccount.Own, _ kind: AddressKind, _ ways: [ImportAccount.Way],
        of account: inout SourceAccount, at now: Timestamp, newID: () -> UInt128
    ) -> [ImportAccount.Address] {
        guard own.isVerified || ways.contains(where: { $0.password != nil }) else {
            account.lose(.unverifiedAddress)
            return []
        }
        guard !ways.isEmpty else {
            account.lose(.addressWithoutProvider)
            return []
        }
        guard let text = localParts.canonical(own.text, kind) else {
            account.lose(.invalidAddress)
            return []
        }
        guard own.isVerified || !provedClaims.contains(text) else {
            account.lose(.unverifiedAddress)
            return []
        }
        let names = names.all(of: text, kind, in: tenant)
        guard !names.isEmpty else { return [] }
        return [
            ImportAccount.Address(
                ProvedAddress(
                    kind: kind, text: text, names: names,
                    newID: AddressID(at: now, random: newID())), ways: ways,
                isClaimed: !own.isVerified)
        ]
    }

    /// Returns a text that Postgres and the log can store; nil for another one.
    private static func disclosable(_ text: String) -> String? {
        text.utf8.count <= 320 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? text : nil
    }
}
