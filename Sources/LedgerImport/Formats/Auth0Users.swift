internal import JSON
internal import Passwords

/// A user of Auth0: an object of its export, of its import, or of the management API.
enum Auth0User {
    /// The connections by which a person has an address of their own at Auth0.
    private static let database = "auth0"
    private static let emailCodes = "email"
    private static let smsCodes = "sms"

    /// An identity with the profile that its provider has given.
    private struct Identity {
        let provider: String?
        let subject: String?
        let profile: JSONMembers
    }

    static func read(_ bytes: [UInt8]) -> SourceRecord {
        guard let user = JSONValue(parsing: bytes)?.members else { return .flaw(.malformed) }
        guard let id = user.id("user_id") ?? user.id("id") else { return .flaw(.noID) }
        var account = SourceAccount(id: id)
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
            guard let subject = identity.subject else {
                account.lose(.invalidSubject)
                continue
            }
            account.federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: subject, email: identity.profile.text("email"),
                    isEmailVerified: identity.profile.flag("email_verified")))
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

    /// Returns the identities of a user; without a list, the one that the id names.
    private static func identities(of user: JSONMembers, id: String) -> [Identity] {
        let listed = user["identities"]?.array ?? []
        guard listed.isEmpty else {
            return listed.enumerated().map { index, value in
                let identity = value.members ?? [:]
                // The e-mail of the user is that of the first identity, which has no profile.
                return Identity(
                    provider: identity.text("provider"), subject: identity.id("user_id"),
                    profile: index == 0 ? user : identity["profileData"]?.members ?? [:])
            }
        }
        let parts = id.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        // Users of a file for an import are of a database, whatever their ids are.
        guard parts.count == 2, !isCarried(user) else {
            return [Identity(provider: database, subject: id, profile: user)]
        }
        return [
            Identity(
                provider: parts[0].isEmpty ? nil : String(parts[0]),
                subject: parts[1].isEmpty ? nil : String(parts[1]), profile: user)
        ]
    }

    /// Whether an export of this program has written the user.
    private static func isCarried(_ user: JSONMembers) -> Bool {
        user["app_metadata"]?.members?.has("account_ledger") == true
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
        _ own: [Identity], to account: inout SourceAccount, _ user: JSONMembers
    ) {
        addPhone(of: own, to: &account)
        // Beside carried identities, the e-mail may be that of another provider.
        let hasHash = user.has("password_hash") || user.has("custom_password_hash")
        guard !isCarried(user) || hasHash || account.hasCodes else { return }
        let withEmail = own.filter { $0.provider != smsCodes && $0.profile.has("email") }
        guard let chosen = withEmail.first(where: { $0.provider == database }) ?? withEmail.first,
            let email = chosen.profile.text("email")
        else { return }
        account.email = SourceAccount.Own(
            text: email, isVerified: chosen.profile.isTrue("email_verified"))
        for other in withEmail {
            let isSame = other.profile.text("email") == email
            account.lose(.furtherAddress, if: !isSame)
            if isSame, other.provider == emailCodes { account.hasCodes = true }
        }
        guard chosen.provider == database else { return }
        if let hash = user.text("password_hash") ?? user.text("passwordHash") {
            account.hash = hash
        } else if let custom = user["custom_password_hash"]?.members {
            account.hash = hash(custom)
            account.lose(.unsupportedHash, if: account.hash == nil)
        }
        account.hasPassword = account.hash != nil || !account.hasCodes
    }

    private static func addPhone(of own: [Identity], to account: inout SourceAccount) {
        for identity in own {
            let isVerified = identity.profile.isTrue("phone_verified")
            guard identity.provider == smsCodes || isVerified,
                let phone = identity.profile.text("phone_number")
            else { continue }
            account.lose(
                .furtherAddress, if: account.phone.map { $0.text != phone } ?? false)
            if account.phone == nil {
                account.phone = SourceAccount.Own(text: phone, isVerified: isVerified)
            }
        }
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
