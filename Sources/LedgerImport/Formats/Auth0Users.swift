internal import JSON
internal import Passwords

/// A user of Auth0: an object of its export, of its import, or of the management API.
enum Auth0User {
    /// The connections by which a person has an address of their own at Auth0.
    private static let database = "auth0"
    private static let emailCodes = "email"
    private static let smsCodes = "sms"
    /// The strategies whose subjects begin with the name of the connection.
    private static let customStrategies: Set<String> = [
        "oauth2", "oidc", "samlp", "ad", "adfs", "pingfederate",
    ]

    /// An identity with the profile that its provider has given.
    private struct Identity {
        let provider: String?
        let connection: String?
        let subject: String?
        let profile: JSONMembers

        var email: SourceAccount.Own? { own("email", "email_verified", ["email"]) }

        var phone: SourceAccount.Own? {
            own("phone_number", "phone_verified", ["phone_number", "phone"])
        }

        /// Returns an address, which the export of hashes may have among the identifiers alone.
        private func own(
            _ name: String, _ flag: String, _ types: [String]
        ) -> SourceAccount.Own? {
            let text = profile.text(name)
            guard text == nil || !profile.has(flag),
                let identifier = profile.identifier(types), let value = identifier.text("value")
            else {
                return text.map { .init(text: $0, isVerified: profile.isTrue(flag)) }
            }
            return .init(text: value, isVerified: identifier.isTrue("verified"))
        }

        /// Describes the identity at a provider other than Auth0; nil without a provider or subject.
        var federated: SourceAccount.Federated? {
            guard let provider, let subject else { return nil }
            var federated = SourceAccount.Federated(
                provider: provider, subject: subject, email: profile.text("email"),
                isEmailVerified: profile.flag("email_verified"))
            guard let connection else { return federated }
            federated.givenNames = [connection, provider]
            let prefix = connection + "|"
            guard subject.utf8.starts(with: prefix.utf8) else { return federated }
            // The strategy is that of many providers, each of which has a connection.
            federated.provider = connection
            federated.subject = String(Substring(subject.utf8.dropFirst(prefix.utf8.count)))
            return federated
        }
    }

    /// Reads a user.
    ///
    /// - Parameters:
    ///   - bytes: The text of the object.
    ///   - hashes: The lines of the export of hashes.
    /// - Returns: The account, or the flaw.
    /// - Throws: `ImportFault` when the hashes can't be read.
    static func read(_ bytes: [UInt8], _ hashes: RowIndex?) throws(ImportFault) -> SourceRecord {
        guard let user = JSONValue(parsing: bytes)?.members else { return .flaw(.malformed) }
        let named = user.id("user_id") ?? user.id("id")
        guard let id = named ?? hashedID(of: user) else { return .flaw(.noID) }
        // An export of this program has to leave out Auth0's prefix of the id, and keeps the whole.
        var account = SourceAccount(id: carried(by: user)?.text("external_id") ?? id)
        // Ids in files for an import have no prefix; those files have no identities.
        account.lose(
            .identitiesNotInFile,
            if: user["identities"]?.array == nil && named?.contains("|") == true
                && !isCarried(user))
        var own: [Identity] = []
        for identity in identities(of: user, id: id) {
            guard let provider = identity.provider else {
                account.lose(.unknownProvider)
                continue
            }
            if [database, emailCodes, smsCodes].contains(provider) {
                own.append(identity)
                continue
            }
            guard let federated = identity.federated else {
                account.lose(.invalidSubject)
                continue
            }
            account.federated.append(federated)
        }
        addCarried(by: user, to: &account)
        try addOwn(own, to: &account, user, hashes)
        account.isDisabled = user.isTrue("blocked")
        account.lose(.username, if: user.has("username") || user.identifier(["username"]) != nil)
        account.lose(.secondFactors, if: user.has("multifactor") || user.has("mfa_factors"))
        let profile = [
            "name", "given_name", "family_name", "nickname", "picture", "user_metadata",
        ]
        let metadataCount = user["app_metadata"]?.members?.count ?? 0
        account.lose(
            .profile,
            if: profile.contains(where: user.has) || metadataCount > (isCarried(user) ? 1 : 0))
        return .account(account)
    }

    /// Returns the identities of a user; without a list, the one that the id names.
    private static func identities(of user: JSONMembers, id: String) -> [Identity] {
        let listed = user["identities"]?.array ?? []
        guard listed.isEmpty else {
            return listed.enumerated().map { index, value in
                let identity = value.members ?? [:]
                // The e-mail of the user is that of the first identity, which has no profile.
                return Identity(
                    provider: identity.text("provider"), connection: identity.text("connection"),
                    subject: identity.id("user_id"),
                    profile: index == 0 ? user : identity["profileData"]?.members ?? [:])
            }
        }
        let parts = id.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        let connection = user.text("connection")
        // Users of a file for an import are of a database, whatever their ids are.
        guard parts.count == 2, !isCarried(user) else {
            return [
                Identity(provider: database, connection: connection, subject: id, profile: user)
            ]
        }
        let inner = parts[1].firstIndex(of: "|").map { String(parts[1][..<$0]) }
        return [
            Identity(
                provider: parts[0].isEmpty ? nil : String(parts[0]),
                connection: connection
                    ?? (customStrategies.contains(String(parts[0])) ? inner : nil),
                subject: parts[1].isEmpty ? nil : String(parts[1]), profile: user)
        ]
    }

    /// Whether an export of this program has written the user.
    private static func isCarried(_ user: JSONMembers) -> Bool {
        user["app_metadata"]?.members?.has("account_ledger") == true
    }

    /// Returns what an export of this program has put beside the parts that Auth0 imports.
    private static func carried(by user: JSONMembers) -> JSONMembers? {
        user["app_metadata"]?.members?["account_ledger"]?.members
    }

    /// Adds the identities that an export of this program has put beside those that Auth0 imports.
    private static func addCarried(by user: JSONMembers, to account: inout SourceAccount) {
        let carried = carried(by: user)
        for identity in carried?["identities"]?.array?.compactMap(\.members) ?? [] {
            guard let provider = identity.text("provider"), let subject = identity.id("user_id")
            else {
                account.lose(identity.text("provider") == nil ? .unknownProvider : .invalidSubject)
                continue
            }
            account.federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: subject, email: identity.text("email"),
                    isEmailVerified: identity.flag("email_verified")))
        }
        if carried?.isTrue("codes") == true { account.hasCodes = true }
    }

    private static func addOwn(
        _ own: [Identity], to account: inout SourceAccount, _ user: JSONMembers, _ hashes: RowIndex?
    ) throws(ImportFault) {
        addPhone(of: own, to: &account)
        // Beside carried identities, the e-mail may be that of another provider.
        let hasOthers = carried(by: user)?["identities"]?.array?.isEmpty == false
        let hasHash = user.has("password_hash") || user.has("custom_password_hash")
        guard !hasOthers || hasHash || account.hasCodes else { return }
        let withEmail = own.filter { $0.provider != smsCodes && $0.email != nil }
        let verified = withEmail.filter { $0.email?.isVerified == true }
        let ranked = [verified, withEmail].flatMap { identities in
            identities.filter { $0.provider == database } + identities
        }
        guard let chosen = ranked.first, let email = chosen.email else {
            guard account.phone != nil, let number = own.first(where: { $0.provider == database })
            else { return }
            try addHash(of: number, among: own, to: &account, user, hashes)
            account.lose(.passwordOfPhone, if: account.hash != nil)
            account.hash = nil
            return
        }
        account.email = email
        for other in withEmail {
            let isSame = other.email?.text == email.text
            account.lose(.furtherAddress, if: !isSame)
            if isSame, other.provider == emailCodes { account.hasCodes = true }
            // A password of this identity was set without a proof of its address.
            account.lose(
                .unverifiedAddress, if: email.isVerified && other.email?.isVerified == false)
        }
        guard chosen.provider == database else { return }
        try addHash(of: chosen, among: own, to: &account, user, hashes)
        account.hasPassword = account.hash != nil || !account.hasCodes
    }

    private static func addHash(
        of identity: Identity, among own: [Identity], to account: inout SourceAccount,
        _ user: JSONMembers, _ hashes: RowIndex?
    ) throws(ImportFault) {
        // Among several, a hash of the user does not tell whose it is.
        let isOnly = own.count(where: { $0.provider == database }) == 1
        if isOnly, let hash = user.text("password_hash") ?? user.text("passwordHash") {
            account.hash = hash
        } else if isOnly, let custom = user["custom_password_hash"]?.members {
            account.hash = hash(custom)
            account.lose(.unsupportedHash, if: account.hash == nil)
        } else {
            account.hash = try hash(of: identity, in: hashes)
        }
    }

    private static func addPhone(of own: [Identity], to account: inout SourceAccount) {
        for identity in own {
            guard let phone = identity.phone else { continue }
            guard identity.provider == smsCodes || phone.isVerified else {
                account.lose(.unverifiedAddress)
                continue
            }
            account.lose(
                .furtherAddress, if: account.phone.map { $0.text != phone.text } ?? false)
            if account.phone == nil { account.phone = phone }
        }
    }

    // MARK: The export of hashes

    /// Opens the export of hashes that Auth0's support hands out, a user in each line.
    ///
    /// - Throws: `ImportFault` when it can't be read.
    static func hashes(path: String) throws(ImportFault) -> RowIndex {
        var file = try ImportFile(path: path)
        var rows = TextRows(.lines) { () throws(ImportFault) in try file.next() }
        return try RowIndex(&rows, .lines, path: path) { user($0).flatMap(hashedID) }
    }

    private static func user(_ line: [String?]) -> JSONMembers? {
        line.first.flatMap(\.self).flatMap { JSONValue(parsing: Array($0.utf8))?.members }
    }

    /// Returns the id of a user in the export of hashes.
    private static func hashedID(of user: JSONMembers) -> String? {
        let id =
            user.has("alt_id") ? user.id("alt_id") : user["_id"]?.members?.text("$oid")
        return id.map { "\(database)|\($0)" }
    }

    /// Returns the hash of an identity; nil without one, and where connections have the same id.
    private static func hash(
        of identity: Identity, in hashes: RowIndex?
    ) throws(ImportFault) -> String? {
        guard let hashes, let subject = identity.subject else { return nil }
        let users = try hashes.rows(of: "\(database)|\(subject)").compactMap(user).filter {
            guard let connection = identity.connection, let other = $0.text("connection") else {
                return true
            }
            return connection == other
        }
        return users.count == 1 ? users.first?.text("passwordHash") : nil
    }

    /// Returns a hash in the form that this program reads; nil for another scheme.
    private static func hash(_ custom: JSONMembers) -> String? {
        guard let hash = custom["hash"]?.members, let value = hash.text("value") else { return nil }
        switch custom.text("algorithm") {
        case "argon2", "bcrypt":
            // Both are texts with their parameters.
            return hash.text("encoding").map { $0 == "utf8" } ?? true ? value : nil
        case "pbkdf2":
            // A PHC string, whose parameters are those of this program.
            return value.hasPrefix("$pbkdf2") ? value : nil
        default: return nil
        }
    }
}

extension JSONMembers {
    /// Returns the first identifier of some kinds in the export of hashes.
    fileprivate func identifier(_ types: [String]) -> JSONMembers? {
        self["identifiers"]?.array?.compactMap(\.members).first {
            types.contains($0.text("type") ?? "")
        }
    }
}
