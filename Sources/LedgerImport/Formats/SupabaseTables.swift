internal import Foundation
internal import JSON
internal import Ledger

/// The tables `auth.users` and `auth.identities` of Supabase: CSV files with a header, or a dump with their COPY.
///
/// The identities and factors of a user are found by an index of 16 bytes for each; a file with a column `identities`,
/// a JSON array of their rows, needs none.
struct SupabaseTables {
    /// The columns of a table, by their names.
    private struct Columns {
        /// The number of fields of each row: one with fewer is the rest of a file that was cut off.
        let count: Int
        private let indexes: [String: Int]

        init(_ names: [String]) {
            count = names.count
            indexes = Dictionary(
                names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Returns a value; nil for NULL, which the dashboard's CSV has as a word that no column means otherwise.
        func text(_ name: String, _ row: [String?]) -> String? {
            guard let index = indexes[name], index < row.count, let text = row[index],
                !text.isEmpty, text != "null", text != "NULL"
            else { return nil }
            return text
        }

        func has(_ name: String) -> Bool { indexes[name] != nil }
    }

    /// A table whose rows are found by their user.
    private struct UserRows {
        let columns: Columns
        private let index: RowIndex

        init(
            _ rows: inout TextRows, _ names: [String], _ form: TextRows.Form, path: String
        ) throws(ImportFault) {
            guard let column = names.firstIndex(of: "user_id") else {
                throw .missingColumn("user_id")
            }
            columns = Columns(names)
            let count = names.count
            index = try RowIndex(&rows, form, path: path) {
                $0.count == count ? $0[column] : nil
            }
        }

        /// Opens a table of a dump; nil when the dump has none.
        init?(of table: String, path: String) throws(ImportFault) {
            guard var found = try SupabaseTables.rows(of: table, path: path) else { return nil }
            try self.init(&found.rows, found.columns, .copyText, path: path)
        }

        func rows(of user: String) throws(ImportFault) -> [[String?]] {
            try index.rows(of: user)
        }
    }

    /// An identity: a row of the table, or an object with the same members.
    private struct Identity {
        var provider: String?
        var subject: String?
        var email: String?
        var isEmailVerified: Bool?
    }

    private static let times = [
        "email_confirmed_at", "phone_confirmed_at", "confirmed_at", "banned_until", "deleted_at",
    ]

    private var users: TextRows
    private let columns: Columns
    private let identityRows: UserRows?
    /// The second factors, which only a dump has.
    private let factorRows: UserRows?
    private let isDump: Bool
    /// Whether the table of users has ended; what follows in a dump is of other tables.
    private var isAtEnd = false
    private let now: Timestamp

    /// Opens the files: one with both tables, or one of users and one of identities.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - now: The present time, with which the end of a ban is compared.
    /// - Throws: `ImportFault`.
    init(paths: [String], now: Timestamp) throws(ImportFault) {
        self.now = now
        var first = try ImportFile(path: paths.first ?? "")
        let start = try first.firstBytes(2)
        isDump = ["--", "CO", "SE"].contains { start.starts(with: $0.utf8) }
        if isDump {
            identityRows = try UserRows(of: "identities", path: paths.last ?? "")
            guard identityRows != nil || paths.count == 1 else {
                throw .missingTable("auth.identities")
            }
            factorRows = try UserRows(of: "mfa_factors", path: paths.first ?? "")
            guard let found = try Self.rows(of: "users", path: paths.first ?? "") else {
                throw .missingTable("auth.users")
            }
            users = found.rows
            columns = Columns(found.columns)
        } else {
            (users, columns) = try Self.csv(first)
            guard columns.has("id") else { throw .missingColumn("id") }
            factorRows = nil
            guard paths.count > 1 else {
                identityRows = nil
                return
            }
            let (found, names) = try Self.csv(try ImportFile(path: paths[1]), named: true)
            var rows = found
            identityRows = try UserRows(&rows, names, .csv, path: paths[1])
        }
        guard columns.has("id") else { throw .missingColumn("id") }
    }

    private static func csv(_ file: ImportFile) throws(ImportFault) -> (TextRows, Columns) {
        let (rows, names) = try csv(file, named: true)
        return (rows, Columns(names))
    }

    private static func csv(
        _ file: ImportFile, named: Bool
    ) throws(ImportFault) -> (TextRows, [String]) {
        var file = file
        var rows = TextRows(.csv) { () throws(ImportFault) in try file.next() }
        guard case .row(let header) = try rows.next() else { throw .malformed(line: 1) }
        return (rows, header.fields.map { $0 ?? "" })
    }

    /// Returns the rows of a table of a dump, which end at a line `\.`; nil when the dump has none.
    private static func rows(
        of table: String, path: String
    ) throws(ImportFault) -> (rows: TextRows, columns: [String])? {
        var file = try ImportFile(path: path)
        var rows = TextRows(.copyText) { () throws(ImportFault) in try file.next() }
        let start = Array("COPY auth.\(table) (".utf8)
        while let (line, _) = try rows.nextLine() {
            guard line.starts(with: "COPY ".utf8), line.suffix(11).elementsEqual("FROM stdin;".utf8)
            else { continue }
            // Supabase's command line quotes each name.
            let bytes = line.filter { $0 != UInt8(ascii: "\"") }
            guard bytes.starts(with: start), let close = bytes.firstIndex(of: UInt8(ascii: ")"))
            else {
                // A row of another table may have the form of the line that is looked for.
                while let (row, _) = try rows.nextLine(), !row.elementsEqual("\\.".utf8) {}
                continue
            }
            let names = String(decoding: bytes[start.count..<close], as: UTF8.self)
                .split(separator: ",")
                .map { $0.filter { $0 != " " } }
            return (rows, names)
        }
        return nil
    }

    /// Returns the next user and its line; nil at the end.
    ///
    /// - Throws: `ImportFault` when a file can't be read, or a dump breaks off.
    mutating func next() throws(ImportFault) -> (record: SourceRecord, line: Int)? {
        guard !isAtEnd else { return nil }
        switch try users.next() {
        case .end:
            guard !isDump else { throw .malformed(line: users.line) }
            return nil
        case .flaw(let flaw, let line): return (.flaw(flaw), line)
        case .row(let row):
            if isDump, row.fields == ["."] {
                isAtEnd = true
                return nil
            }
            return (try record(row.fields), row.line)
        }
    }

    private mutating func record(_ row: [String?]) throws(ImportFault) -> SourceRecord {
        // The end that a shorter row lacks may be a block or a deletion.
        guard row.count == columns.count else { return .flaw(.malformed) }
        guard let id = columns.text("id", row) else { return .flaw(.noID) }
        guard Self.times.allSatisfy({ columns.text($0, row).map(Self.isTime) ?? true }) else {
            return .flaw(.malformed)
        }
        guard columns.text("deleted_at", row) == nil else { return .flaw(.deleted) }
        guard let identities = try identities(of: id, row) else { return .flaw(.malformed) }
        var account = SourceAccount(id: id)
        let named = providers(row)
        let lacking = named.subtracting(identities.compactMap(\.provider))
            .subtracting(["email", "phone"])
        account.lose(.identitiesNotInFile, if: !lacking.isEmpty)
        let hash = columns.text("encrypted_password", row)
        let hasEmail =
            identities.contains { $0.provider == "email" }
            || identities.isEmpty && (lacking.isEmpty || named.contains("email"))
        // Otherwise the e-mail is that of a provider.
        if let email = columns.text("email", row), hasEmail || hash != nil {
            account.email = SourceAccount.Own(
                text: email, isVerified: isEmailConfirmed(row))
            account.hash = hash
            account.hasPassword = hash != nil
            // Supabase gives people who sign up by a link or an invitation a random password.
            account.hasCodes = true
        }
        account.lose(.passwordOfPhone, if: hash != nil && account.email == nil)
        account.lose(.secondFactors, if: try hasFactor(id))
        if let phone = columns.text("phone", row) {
            account.phone = SourceAccount.Own(
                text: phone.hasPrefix("+") ? phone : "+" + phone,
                isVerified: columns.text("phone_confirmed_at", row) != nil)
        }
        for identity in identities {
            guard let provider = identity.provider else {
                account.lose(.unknownProvider)
                continue
            }
            if ["email", "phone"].contains(provider) { continue }
            account.federated.append(
                SourceAccount.Federated(
                    provider: provider, subject: identity.subject ?? "", email: identity.email,
                    isEmailVerified: identity.isEmailVerified))
        }
        if let end = columns.text("banned_until", row) { account.isDisabled = isFuture(end) }
        let profile = columns.text("raw_user_meta_data", row)
        account.lose(.profile, if: profile.map { !["{}", "null"].contains($0) } ?? false)
        return .account(account)
    }

    /// Whether a text begins with a date, as Postgres writes a time, or is one of its infinite times.
    private static func isTime(_ text: String) -> Bool {
        let isDate = zip(text.utf8, "0000-00-00".utf8).allSatisfy { byte, form in
            form == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == form
        }
        return isDate && text.utf8.count >= 10 || ["infinity", "-infinity"].contains(text)
    }

    /// Whether a time is later than now: by its text if it has no offset, or is infinite.
    private func isFuture(_ text: String) -> Bool {
        let time = text.replacing(" ", with: "T")
        // Postgres writes an offset of whole hours without minutes.
        let isShort = time.suffix(3).first.map { "+-".contains($0) } ?? false
        if let time = Timestamp(rfc3339: isShort ? time + ":00" : time) { return time > now }
        return time.prefix(19) > now.description.prefix(19)
    }

    /// Returns the names of the user's providers, each of which has an identity in `auth.identities`.
    private func providers(_ row: [String?]) -> Set<String> {
        let text = columns.text("raw_app_meta_data", row) ?? ""
        let data = JSONValue(parsing: Array(text.utf8))?.members
        let names = data?["providers"]?.array?.map(\.string) ?? [data?.text("provider")]
        return Set(names.compactMap(\.self))
    }

    /// Whether the row has a proof of its e-mail.
    ///
    /// `confirmed_at` is the earlier time of both addresses, so it proves nothing about one of
    /// them where they have columns; files of former releases have `confirmed_at` alone.
    private func isEmailConfirmed(_ row: [String?]) -> Bool {
        guard !columns.has("email_confirmed_at"), !columns.has("phone_confirmed_at") else {
            return columns.text("email_confirmed_at", row) != nil
        }
        return columns.text("confirmed_at", row) != nil && columns.text("phone", row) == nil
    }

    /// Whether a user has a second factor that was verified: Supabase asks for no other one.
    private func hasFactor(_ id: String) throws(ImportFault) -> Bool {
        guard let factorRows else { return false }
        return try factorRows.rows(of: id).contains {
            factorRows.columns.text("status", $0) == "verified"
        }
    }

    /// Returns the identities of a user; nil when they can't be read.
    private mutating func identities(
        of id: String, _ row: [String?]
    ) throws(ImportFault) -> [Identity]? {
        if columns.has("identities") {
            guard let text = columns.text("identities", row) else { return [] }
            guard let array = JSONValue(parsing: Array(text.utf8))?.array else { return nil }
            return array.compactMap(\.members).map { member in
                Self.identity(
                    member["identity_data"]?.members, provider: member.text("provider"),
                    providerID: member.id("provider_id"), id: member.id("id"))
            }
        }
        guard let identityRows else { return [] }
        let columns = identityRows.columns
        return try identityRows.rows(of: id).map { fields in
            let data = columns.text("identity_data", fields)
                .flatMap { JSONValue(parsing: Array($0.utf8))?.members }
            return Self.identity(
                data, provider: columns.text("provider", fields),
                providerID: columns.text("provider_id", fields), id: columns.text("id", fields))
        }
    }

    /// Describes an identity, whose subject was in `id` before the releases with `provider_id`, where it is a UUID.
    private static func identity(
        _ data: JSONMembers?, provider: String?, providerID: String?, id: String?
    ) -> Identity {
        let former = id.flatMap { UUID(uuidString: $0) == nil ? $0 : nil }
        return Identity(
            provider: provider, subject: providerID ?? data?.id("sub") ?? former,
            email: data?.text("email"), isEmailVerified: data?.flag("email_verified"))
    }
}
