internal import Encodings
internal import JSON

/// A user of Keycloak: an element of `users` in the export of a realm or of its users.
enum KeycloakUser {
    static func read(_ bytes: [UInt8]) -> SourceRecord {
        guard let user = JSONValue(parsing: bytes)?.members else { return .flaw(.malformed) }
        guard let id = user.text("id") else { return .flaw(.noID) }
        var account = SourceAccount(id: id)
        for identity in user["federatedIdentities"]?.array?.compactMap(\.members) ?? [] {
            guard let provider = identity.text("identityProvider") else {
                account.lose(.unknownProvider)
                continue
            }
            account.federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: identity.id("userId") ?? "", email: nil,
                    isEmailVerified: nil))
        }
        account.isDisabled = user.flag("enabled") == false
        let email = user.text("email")
        account.lose(.username, if: user.text("username").map { $0 != email } ?? false)
        let profile = [
            "firstName", "lastName", "attributes", "groups", "clientRoles", "requiredActions",
        ]
        // Every user of a realm has this role.
        let roles = user["realmRoles"]?.array?.filter {
            $0.string?.hasPrefix("default-roles-") != true
        }
        account.lose(.profile, if: profile.contains(where: user.has) || roles?.isEmpty == false)
        account.lose(.secondFactors, if: user.isTrue("totp"))
        // A realm's export has the credentials of each user, and identities only where there are some; the list of users
        // of the administration's interface has neither.
        let hasCredentials = user["credentials"]?.array != nil
        let hasIdentities = hasCredentials || user["federatedIdentities"]?.array != nil
        account.lose(.passwordNotInFile, if: !hasCredentials)
        account.lose(.identitiesNotInFile, if: !hasIdentities)
        var hasPassword = false
        for credential in user["credentials"]?.array?.compactMap(\.members) ?? [] {
            switch credential.text("type") {
            case "password": break
            // Former passwords, which the person must not choose again.
            case "password-history": continue
            default:
                account.lose(.secondFactors)
                continue
            }
            hasPassword = true
            account.hash = hash(credential)
            account.lose(.unsupportedHash, if: account.hash == nil)
        }
        // LDAP, or another storage of the person's account, has the password.
        account.lose(.passwordNotInFile, if: user.has("federationLink") && !hasPassword)
        // Otherwise the e-mail is that of a provider, or may be.
        if let email, hasPassword || hasIdentities && account.federated.isEmpty {
            account.email = SourceAccount.Own(
                text: email, isVerified: user.isTrue("emailVerified"))
            account.hasPassword = hasPassword
            account.hasCodes = !hasPassword
        } else if hasPassword {
            account.lose(.username)
        }
        return .account(account)
    }

    private static func hash(_ credential: JSONMembers) -> String? {
        guard let secret = nested("secretData", credential),
            let data = nested("credentialData", credential)
        else { return formerHash(credential) }
        let parameters = data["additionalParameters"]?.members ?? [:]
        return hash(
            secret.text("value"), salt: secret.text("salt"), algorithm: data.text("algorithm"),
            iterations: data.id("hashIterations"), parameters)
    }

    /// The form before Keycloak 4.7.
    private static func formerHash(_ credential: JSONMembers) -> String? {
        hash(
            credential.text("hashedSaltedValue"), salt: credential.text("salt"),
            algorithm: credential.text("algorithm"), iterations: credential.id("hashIterations"),
            [:])
    }

    private static func nested(_ name: String, _ credential: JSONMembers) -> JSONMembers? {
        credential.text(name).flatMap { JSONValue(parsing: Array($0.utf8))?.members }
    }

    private static func hash(
        _ value: String?, salt: String?, algorithm: String?, iterations: String?,
        _ parameters: JSONMembers
    ) -> String? {
        guard let value = value.flatMap({ Base64.decode($0) }),
            let salt = salt.flatMap({ Base64.decode($0) }), let algorithm, let iterations
        else { return nil }
        let rest = "$\(unpadded(salt))$\(unpadded(value))"
        switch algorithm {
        case "pbkdf2", "pbkdf2-sha1": return "$pbkdf2-sha1$i=\(iterations),l=\(value.count)\(rest)"
        case "pbkdf2-sha256", "pbkdf2-sha512":
            return "$\(algorithm)$i=\(iterations),l=\(value.count)\(rest)"
        case "argon2":
            func parameter(_ name: String) -> String? { parameters[name]?.array?.first?.string }
            guard parameter("type") == "id", parameter("version") == "1.3",
                let memory = parameter("memory"), let lanes = parameter("parallelism")
            else { return nil }
            return "$argon2id$v=19$m=\(memory),t=\(iterations),p=\(lanes)\(rest)"
        default: return nil
        }
    }

    private static func unpadded(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes)
        return String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") }))
    }
}
