internal import Encodings
internal import JSON

/// A user of Firebase Authentication: an element of `users`, or a row of the CSV, as `firebase auth:export` writes them.
struct FirebaseUser {
    /// The places of the providers in a row of the CSV.
    private static let columns = [
        (provider: "google.com", index: 7), (provider: "facebook.com", index: 11),
        (provider: "twitter.com", index: 15), (provider: "github.com", index: 19),
        (provider: "apple.com", index: 28), (provider: "microsoft.com", index: 32),
        (provider: "gc.apple.com", index: 36), (provider: "playgames.google.com", index: 40),
        (provider: "linkedin.com", index: 44), (provider: "yahoo.com", index: 48),
    ]
    /// The numbers of columns without custom claims, with them, and with the providers of newer releases.
    ///
    /// A comma at the end of a row, as the command line writes it, is one more.
    private static let columnCounts: Set<Int> = [27, 28, 29, 52, 53]

    /// The Base64 of `REDACTED`, in the place of hashes that the exporter may not read.
    private static let redacted = "UkVEQUNURUQ="

    private let id: String
    private var email: String?
    private var isEmailVerified = false
    private var hash: String?
    private var salt: String?
    private var phone: String?
    private var isDisabled = false
    private var hasProfile = false
    private var hasSecondFactors = false
    private var hasPassword = false
    /// Whether an identity has no provider.
    private var hasUnknown = false
    private var federated: [SourceAccount.Federated] = []

    static func read(_ bytes: [UInt8], _ hashing: FirebaseHashing?) -> SourceRecord {
        guard let members = JSONValue(parsing: bytes)?.members else { return .flaw(.malformed) }
        guard let user = FirebaseUser(members) else { return .flaw(.noID) }
        return .account(user.account(hashing))
    }

    static func read(row: [String?], _ hashing: FirebaseHashing?) -> SourceRecord {
        guard hasColumns(row) else { return .flaw(.malformed) }
        guard let user = FirebaseUser(row: row) else { return .flaw(.noID) }
        return .account(user.account(hashing))
    }

    /// Whether a row has the columns of a release, each in its place.
    ///
    /// Addresses of pictures are written without quotes, so a comma in one moves the columns after it.
    private static func hasColumns(_ row: [String?]) -> Bool {
        guard columnCounts.contains(row.count) else { return false }
        func has(_ index: Int, _ isForm: (String) -> Bool) -> Bool {
            guard index < row.count, let text = row[index], !text.isEmpty else { return true }
            return isForm(text)
        }
        func isTime(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        // Every user has the first of the two times.
        guard row[23] != nil || row[24] == nil, has(23, isTime), has(24, isTime) else {
            return false
        }
        guard has(25, { $0.hasPrefix("+") }), has(26, { $0 == "true" || $0 == "false" }),
            has(27, { $0.hasPrefix("{") })
        else { return false }
        return row.count != 29 && row.count != 53 || has(row.count - 1) { _ in false }
    }

    private init?(_ user: JSONMembers) {
        guard let id = user.id("localId") else { return nil }
        self.id = id
        email = user.text("email")
        isEmailVerified = user.isTrue("emailVerified")
        hash = user.text("passwordHash")
        salt = user.text("salt")
        phone = user.text("phoneNumber")
        isDisabled = user.isTrue("disabled")
        hasProfile = ["displayName", "photoUrl", "customAttributes"].contains(where: user.has)
        hasSecondFactors = user.has("mfaInfo")
        for value in user["providerUserInfo"]?.array ?? [] {
            let info = value.members ?? [:]
            hasProfile = hasProfile || info.has("displayName") || info.has("photoUrl")
            switch info.text("providerId") {
            case "password"?: hasPassword = true
            case "phone"?: phone = phone ?? info.text("phoneNumber") ?? info.text("rawId")
            case let provider?:
                federated.append(
                    SourceAccount.Federated(
                        provider: provider, subject: info.id("rawId") ?? "",
                        email: info.text("email"), isEmailVerified: nil))
            case nil: hasUnknown = true
            }
        }
    }

    private init?(row: [String?]) {
        guard let id = row[0], !id.isEmpty else { return nil }
        self.id = id
        func text(_ index: Int) -> String? {
            guard index < row.count, let text = row[index], !text.isEmpty else { return nil }
            return text
        }
        email = text(1)
        isEmailVerified = text(2) == "true"
        hash = text(3)
        salt = text(4)
        hasProfile = text(5) != nil || text(6) != nil || text(27) != nil
        phone = text(25)
        isDisabled = text(26) == "true"
        for (provider, index) in Self.columns {
            guard let subject = text(index) else { continue }
            hasProfile = hasProfile || text(index + 2) != nil || text(index + 3) != nil
            federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: subject, email: text(index + 1),
                    isEmailVerified: nil))
        }
    }

    private func account(_ hashing: FirebaseHashing?) -> SourceAccount {
        var account = SourceAccount(id: id)
        let hasPassword = hasPassword || hash != nil
        account.federated = federated
        account.isDisabled = isDisabled
        account.lose(.profile, if: hasProfile)
        account.lose(.secondFactors, if: hasSecondFactors)
        account.lose(.unknownProvider, if: hasUnknown)
        account.lose(.passwordOfPhone, if: hash != nil && email == nil)
        if let phone {
            // Firebase keeps no number that was not proved.
            account.phone = SourceAccount.Own(text: phone, isVerified: true)
        }
        guard let email else { return account }
        // Otherwise the e-mail is that of a provider, which may have changed there.
        guard hasPassword || federated.isEmpty else {
            let isKnown = federated.contains { $0.email?.lowercased() == email.lowercased() }
            account.lose(.furtherAddress, if: !isKnown)
            return account
        }
        account.email = SourceAccount.Own(text: email, isVerified: isEmailVerified)
        account.hasPassword = hasPassword
        account.hasCodes = !hasPassword
        guard let hash, hash != Self.redacted else { return account }
        if let bcrypt = Self.bcrypt(hash) {
            account.hash = bcrypt
        } else if let hashing, let salt {
            account.hash = hashing.text(salt: salt, hash: hash)
        } else {
            account.lose(.unsupportedHash)
        }
        return account
    }

    /// Returns the text of a hash in the form in which Firebase imports bcrypt.
    private static func bcrypt(_ hash: String) -> String? {
        // The Base64 of `$2`.
        guard hash.hasPrefix("JD"), let bytes = Base64.decode(FirebaseHashing.standard(hash)),
            let text = String(validating: bytes, as: UTF8.self), text.hasPrefix("$2")
        else { return nil }
        return text
    }
}
