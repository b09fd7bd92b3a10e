internal import JSON
internal import Passwords

/// A user of Auth0: an object of its export, of its import, or of the management API.
enum Auth0User {
    /// The connections by which a person has an address of their own at Auth0.
    private static let database = "auth0"
    private static let emailCodes = "email"
    private static let smsCodes = "sms"

    static func read(_ bytes: [UInt8]) -> SourceRecord {
        guard let user = JSONValue(parsing: bytes)?.members else { return .flaw(.malformed) }
        guard let id = user.id("user_id") ?? user.id("id") else { return .flaw(.noID) }
        var account = SourceAccount(id: id)
        let identities = user["identities"]?.array?.compactMap(\.members) ?? []
        // A file for an import has no identities; its users are of a database.
        var own: Set<String> = identities.isEmpty ? [database] : []
        for identity in identities {
            guard let provider = identity.text("provider") else {
                account.lose(.unknownProvider)
                continue
            }
            if [database, emailCodes, smsCodes].contains(provider) {
                own.insert(provider)
                continue
            }
            add(identity, of: provider, to: &account, user)
        }
        addCarried(by: user, to: &account)
        addOwn(own, to: &account, user)
        account.isDisabled = user.isTrue("blocked")
        account.lose(.username, if: user.has("username"))
        account.lose(.secondFactors, if: user.has("multifactor") || user.has("mfa_factors"))
        let profile = [
            "name", "given_name", "family_name", "nickname", "picture", "user_metadata",
            "app_metadata",
        ]
        account.lose(.profile, if: profile.contains(where: user.has))
        return .account(account)
    }

    private static func add(
        _ identity: JSONMembers, of provider: String, to account: inout SourceAccount,
        _ user: JSONMembers
    ) {
        guard let subject = identity.id("user_id") else { return account.lose(.invalidSubject) }
        // Linked identities have profiles; the first one has that of the user.
        let data = identity["profileData"]?.members
        let profile = data ?? (account.federated.isEmpty ? user : [:])
        account.federated.append(
            SourceAccount.Federated(
                provider: provider, subject: subject, email: profile.text("email"),
                isEmailVerified: profile.flag("email_verified")))
    }

    /// Adds the identities that an export of this program has put beside those that Auth0 imports.
    private static func addCarried(by user: JSONMembers, to account: inout SourceAccount) {
        let carried = user["app_metadata"]?.members?["account_ledger"]?.members
        for identity in carried?["identities"]?.array?.compactMap(\.members) ?? [] {
            guard let provider = identity.text("provider"), let subject = identity.id("user_id")
            else { continue }
            account.federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: subject, email: identity.text("email"),
                    isEmailVerified: identity.flag("email_verified")))
        }
        if carried?.isTrue("codes") == true { account.hasCodes = true }
    }

    private static func addOwn(
        _ own: Set<String>, to account: inout SourceAccount, _ user: JSONMembers
    ) {
        // Beside carried identities, the e-mail may be that of another provider.
        let isCarried = user["app_metadata"]?.members?.has("account_ledger") == true
        let hasHash = user.has("password_hash") || user.has("custom_password_hash")
        if own.contains(database) || own.contains(emailCodes),
            !isCarried || hasHash || account.hasCodes, let email = user.text("email")
        {
            account.email = SourceAccount.Own(
                text: email, isVerified: user.isTrue("email_verified"))
        }
        account.hasCodes = account.hasCodes || own.contains(emailCodes)
        if own.contains(smsCodes) || user.isTrue("phone_verified"),
            let phone = user.text("phone_number")
        {
            account.phone = SourceAccount.Own(
                text: phone, isVerified: user.isTrue("phone_verified"))
        }
        guard own.contains(database), account.email != nil else { return }
        if let hash = user.text("password_hash") ?? user.text("passwordHash") {
            account.hash = hash
        } else if let custom = user["custom_password_hash"]?.members {
            account.hash = hash(custom)
            account.lose(.unsupportedHash, if: account.hash == nil)
        }
        account.hasPassword = account.hash != nil || !account.hasCodes
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
