internal import Encodings
internal import JSON
package import Ledger

/// Writes accounts as another system imports them.
package struct UserWriter: Sendable {
    /// The systems that accounts can be written for.
    package enum Target: String, Sendable, CaseIterable {
        case auth0
        case firebase
    }

    /// The parts of an account that the other system does not import.
    package enum Omission: String, Hashable, Sendable, CaseIterable {
        /// Passkeys, anonymous identities, and providers that the system has no place for.
        case identity
        /// A second address of a kind.
        case address
        /// The hash is of a scheme that the system does not import, or has a pepper.
        case hash
        /// Second factors, whose secrets are not exported.
        case factor
        /// Codes to an e-mail that has a password, too.
        case codes
        /// That a provider has verified its e-mail.
        case verification
        /// The other external ids.
        case name
        /// An e-mail of the person's own beside a provider, which comes back as the provider's.
        case ownEmail
        /// No e-mail, without which Auth0 imports no user.
        case noEmail
    }

    private let target: Target
    private let types: [ProviderName: ProviderType]
    private let firebaseNames: [ProviderName: String]

    /// Creates a writer.
    package init(for target: Target, types: [ProviderName: ProviderType]) {
        self.target = target
        self.types = types
        firebaseNames = ImportFormat.firebase.names(of: types)
    }

    /// The text before the first account, between two, and after the last.
    package var frame: (start: String, separator: String, end: String) {
        switch target {
        case .auth0: ("[\n", ",\n", "\n]\n")
        case .firebase: ("{\"users\":[\n", ",\n", "\n]}\n")
        }
    }

    /// Returns an account as a JSON object, and what it leaves out.
    package func write(_ account: ExportedAccount) -> (bytes: [UInt8], omissions: [Omission]) {
        switch target {
        case .auth0: auth0(account)
        case .firebase: firebase(account)
        }
    }

    private func type(_ identity: ExportedAccount.Identity) -> ProviderType? {
        types[identity.provider]
    }

    /// Returns the identities of the address to write, the one with a password before others.
    private func own(
        _ kind: AddressKind, of account: ExportedAccount
    ) -> [ExportedAccount.Identity] {
        let all = every(kind, of: account)
        let address = (all.first { $0.hash != nil } ?? all.first)?.address
        return all.filter { $0.address == address }
    }

    private func every(
        _ kind: AddressKind, of account: ExportedAccount
    ) -> [ExportedAccount.Identity] {
        account.identities.filter { type($0)?.addressKind == kind && $0.address != nil }
    }

    private func federated(_ account: ExportedAccount) -> [ExportedAccount.Identity] {
        account.identities.filter { type($0)?.isFederated == true }
    }

    private func externalID(_ account: ExportedAccount, _ source: String) -> String {
        account.names.first { $0.source.description == source }?.id ?? account.id.description
    }

    private func omissions(
        _ account: ExportedAccount, federated: Int, of source: String
    ) -> [Omission] {
        var omissions: [Omission] = []
        let addressed = [AddressKind.email, .phone].map { every($0, of: account) }
        if addressed.joined().count + federated < account.identities.count {
            omissions.append(.identity)
        }
        if addressed.contains(where: { Set($0.map(\.address)).count > 1 }) {
            omissions.append(.address)
        }
        let written = account.names.first { $0.source.description == source }
        if account.names.contains(where: { $0 != written }) { omissions.append(.name) }
        if account.hasSecondFactors { omissions.append(.factor) }
        return omissions
    }

    // MARK: Auth0

    private func auth0(_ account: ExportedAccount) -> (bytes: [UInt8], omissions: [Omission]) {
        let emails = own(.email, of: account)
        let phone = own(.phone, of: account).first
        let federated = federated(account)
        let hash = emails.lazy.compactMap(\.hash).first
        var omissions = omissions(account, federated: federated.count, of: "auth0")
        let external = externalID(account, "auth0")
        // Auth0 puts the strategy before it.
        let id = external.hasPrefix("auth0|") ? String(external.dropFirst(6)) : external
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("user_id", id)
            if let first = emails.first, let email = first.address {
                writer.member("email", email)
                writer.name("email_verified")
                writer.flag(first.isAddressVerified)
            } else if let email = federated.lazy.compactMap(\.email).first {
                // Auth0 requires an e-mail. It is not the person's own: it must not sign in.
                writer.member("email", email.address)
                writer.name("email_verified")
                writer.flag(false)
            } else {
                omissions.append(.noEmail)
            }
            if let phone = phone?.address {
                writer.member("phone_number", phone)
                writer.name("phone_verified")
                writer.flag(true)
            }
            if account.isDisabled {
                writer.name("blocked")
                writer.flag(true)
            }
            if let hash {
                switch Self.scheme(hash) {
                // Auth0's own has a cost of 10. `$2y$` is another name of `$2b$`, which Auth0 knows.
                case .bcrypt where hash.hasPrefix("$2a$10$") || hash.hasPrefix("$2b$10$"):
                    writer.member("password_hash", hash)
                case .bcrypt where hash.hasPrefix("$2y$"):
                    writer.customHash("$2b$" + hash.dropFirst(4), "bcrypt")
                case .bcrypt: writer.customHash(hash, "bcrypt")
                case .argon2: writer.customHash(hash, "argon2")
                case .pbkdf2: writer.customHash(hash, "pbkdf2")
                case nil: omissions.append(.hash)
                }
            }
            // A password that Auth0 does not import is replaced by codes to the address.
            let isLost = !emails.isEmpty && hash.flatMap(Self.scheme) == nil
            let hasCodes = isLost || emails.contains { type($0) == .email }
            // Without them, an import would read a provider from the prefix of the id.
            guard !federated.isEmpty || hasCodes || id.contains("|") || id != external else {
                return
            }
            // Auth0 imports no identities of other providers: they are kept beside the user.
            writer.name("app_metadata")
            writer.object { writer in
                writer.name("account_ledger")
                writer.object { writer in
                    if id != external { writer.member("external_id", external) }
                    if hasCodes {
                        writer.name("codes")
                        writer.flag(true)
                    }
                    writer.name("identities")
                    writer.array { writer in
                        for identity in federated { writer.identity(identity) }
                    }
                }
            }
        }
        return (writer.bytes, omissions)
    }

    // MARK: Firebase

    private func firebase(_ account: ExportedAccount) -> (bytes: [UInt8], omissions: [Omission]) {
        let emails = own(.email, of: account)
        let phone = own(.phone, of: account).first
        let federated = federated(account).filter { firebaseNames[$0.provider] != nil }
        let hash = emails.lazy.compactMap(\.hash).first
        let isWritten = hash.flatMap(Self.scheme) == .bcrypt
        var omissions = omissions(account, federated: federated.count, of: "firebase")
        // Beside a provider and without a hash, an e-mail is read as the provider's.
        if !federated.isEmpty, !emails.isEmpty, !isWritten { omissions.append(.ownEmail) }
        if isWritten, emails.contains(where: { type($0) == .email }) { omissions.append(.codes) }
        if federated.contains(where: { $0.email?.isVerified == true }) {
            omissions.append(.verification)
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("localId", externalID(account, "firebase"))
            if let first = emails.first, let email = first.address {
                writer.member("email", email)
                writer.name("emailVerified")
                writer.flag(first.isAddressVerified)
            }
            if let phone = phone?.address { writer.member("phoneNumber", phone) }
            if account.isDisabled {
                writer.name("disabled")
                writer.flag(true)
            }
            if let hash {
                // Imported with --hash-algo=BCRYPT.
                if isWritten {
                    writer.name("passwordHash")
                    writer.base64(Array(hash.utf8))
                } else {
                    omissions.append(.hash)
                }
            }
            writer.name("providerUserInfo")
            writer.array { writer in
                for identity in federated {
                    writer.object { writer in
                        writer.member("providerId", firebaseNames[identity.provider])
                        writer.member("rawId", identity.providerID)
                        writer.member("email", identity.email?.address)
                    }
                }
            }
        }
        return (writer.bytes, omissions)
    }

    // MARK: Hashes

    private enum Scheme {
        case bcrypt
        case argon2
        case pbkdf2
    }

    /// Returns the scheme that others import; nil for one with a pepper or around another hash.
    private static func scheme(_ hash: String) -> Scheme? {
        guard !hash.contains("|"), !hash.contains("keyid=") else { return nil }
        if hash.hasPrefix("$2") { return .bcrypt }
        if hash.hasPrefix("$argon2id$") { return .argon2 }
        return hash.hasPrefix("$pbkdf2-sha") && hash.contains("$i=") ? .pbkdf2 : nil
    }
}

extension JSONWriter {
    fileprivate mutating func customHash(_ hash: String, _ algorithm: String) {
        name("custom_password_hash")
        object { writer in
            writer.member("algorithm", algorithm)
            writer.name("hash")
            writer.object { writer in
                writer.member("value", hash)
                writer.member("encoding", "utf8")
            }
        }
    }

    fileprivate mutating func identity(_ identity: ExportedAccount.Identity) {
        object { writer in
            writer.member("provider", identity.provider.description)
            writer.member("user_id", identity.providerID)
            guard let email = identity.email else { return }
            writer.member("email", email.address)
            guard let isVerified = email.isVerified else { return }
            writer.name("email_verified")
            writer.flag(isVerified)
        }
    }
}
