internal import JSON
package import Ledger

/// The accounts of an export, one after the other.
package struct AccountFile {
    private enum Source {
        case auth0(RecordReader, RowIndex?)
        case firebase(RecordReader, FirebaseHashing?)
        case firebaseRows(TextRows, FirebaseHashing?)
        case keycloak(RecordReader)
        case supabase(SupabaseTables)
    }

    private var source: Source

    /// Opens an export.
    ///
    /// - Parameters:
    ///   - format: Its format.
    ///   - paths: The file; for Supabase also the one of `auth.identities`, for Auth0 that of the hashes.
    ///   - hashing: The parameters of Firebase's hashes.
    ///   - now: The present time.
    /// - Throws: `ImportFault`.
    package init(
        _ format: ImportFormat, paths: [String], hashing: FirebaseHashing?, now: Timestamp
    ) throws(ImportFault) {
        if format == .supabase {
            source = .supabase(try SupabaseTables(paths: paths, now: now))
            return
        }
        let path = paths.first ?? ""
        var file = try ImportFile(path: path)
        let first = try file.firstBytes(1)
        switch format {
        case .auth0:
            source = .auth0(
                first == [UInt8(ascii: "[")]
                    ? RecordReader(.wholeText, of: file) : RecordReader(linesOf: file),
                paths.count > 1 ? try Auth0User.hashes(path: paths[1]) : nil)
        case .firebase where first == [UInt8(ascii: "{")]:
            source = .firebase(RecordReader(.member("users"), of: file), hashing)
        case .firebase:
            let rows = TextRows(.csv) { () throws(ImportFault) in try file.next() }
            source = .firebaseRows(rows, hashing)
        case .keycloak, .supabase:
            source = .keycloak(
                first == [UInt8(ascii: "[")]
                    ? try Self.keycloakList(path: path)
                    : RecordReader(.member("users"), of: file))
        }
    }

    /// Opens a list of users, or one of realms of which at most one has users.
    private static func keycloakList(path: String) throws(ImportFault) -> RecordReader {
        var scan = RecordReader(.memberOfEach("users"), of: try ImportFile(path: path))
        var realms: Set<Int> = []
        do throws(ImportFault) {
            while try scan.next() != nil { realms.insert(scan.arrayCount) }
        } catch {
            // The import reports a malformed record with its line.
            if case .unreadable = error { throw error }
        }
        guard realms.count <= 1 else { throw .severalRealms }
        guard scan.arrayCount == 0 else {
            return RecordReader(.memberOfEach("users"), of: try ImportFile(path: path))
        }
        var list = RecordReader(.wholeText, of: try ImportFile(path: path))
        if case .success(let bytes)? = (try? list.next())?.content,
            JSONValue(parsing: bytes)?.members?.has("realm") == true
        {
            throw .noUsers
        }
        return RecordReader(.wholeText, of: try ImportFile(path: path))
    }

    /// Checks that no hash of Firebase's users needs the project's parameters: an account that is imported without its
    /// password does not get it by a second import.
    ///
    /// - Throws: `ImportFault.missingHashConfig` with the line of the first; `unreadable`.
    package static func checkWithoutHashing(path: String, now: Timestamp) throws(ImportFault) {
        var file = try AccountFile(.firebase, paths: [path], hashing: nil, now: now)
        try file.eachAccount { (account, line) throws(ImportFault) in
            guard !account.losses.contains(.unsupportedHash) else {
                throw ImportFault.missingHashConfig(line: line)
            }
        }
    }

    /// Reads the accounts and their lines to the end, or to where the file breaks off, which the import reports.
    ///
    /// - Throws: `ImportFault` when the file can't be read, or that of the body.
    mutating func eachAccount(
        _ body: (SourceAccount, Int) throws(ImportFault) -> Void
    ) throws(ImportFault) {
        do throws(ImportFault) {
            while let (record, line) = try next() {
                if case .account(let account) = record { try body(account, line) }
            }
        } catch {
            if case .malformed = error { return }
            throw error
        }
    }

    /// Returns the next record and the line where it begins; nil at the end.
    ///
    /// - Throws: `ImportFault` when the file can't be read, or nothing after a place can be.
    package mutating func next() throws(ImportFault) -> (record: SourceRecord, line: Int)? {
        switch source {
        case .auth0(var reader, let hashes):
            defer { source = .auth0(reader, hashes) }
            guard let record = try reader.next() else { return nil }
            switch record.content {
            case .success(let bytes): return (try Auth0User.read(bytes, hashes), record.line)
            case .failure(let flaw): return (.flaw(flaw), record.line)
            }
        case .firebase(var reader, let hashing):
            defer { source = .firebase(reader, hashing) }
            return try reader.next().map { record in
                Self.read(record) { FirebaseUser.read($0, hashing) }
            }
        case .firebaseRows(var rows, let hashing):
            defer { source = .firebaseRows(rows, hashing) }
            switch try rows.next() {
            case .end: return nil
            case .flaw(let flaw, let line): return (.flaw(flaw), line)
            case .row(let row): return (FirebaseUser.read(row: row.fields, hashing), row.line)
            }
        case .keycloak(var reader):
            defer { source = .keycloak(reader) }
            return try reader.next().map { Self.read($0, KeycloakUser.read) }
        case .supabase(var tables):
            defer { source = .supabase(tables) }
            return try tables.next()
        }
    }

    /// Returns the next records, of which a transaction's worth is read.
    ///
    /// - Parameters:
    ///   - recordsMax: The maximum number of records.
    ///   - eventsMax: The number of events, by an estimate, at which no record is added.
    /// - Returns: The records and their lines; empty at the end.
    /// - Throws: `ImportFault` when there is no record before the fault.
    package mutating func batch(
        recordsMax: Int, eventsMax: Int
    ) throws(ImportFault) -> [(record: SourceRecord, line: Int)] {
        var batch: [(record: SourceRecord, line: Int)] = []
        var events = 0
        do {
            while batch.count < recordsMax, events < eventsMax, let found = try next() {
                batch.append(found)
                if case .account(let account) = found.record { events += account.eventsMax }
            }
        } catch {
            // Earlier records are imported first; the next call throws the fault.
            guard !batch.isEmpty else { throw error }
        }
        return batch
    }

    /// Reads a record of a JSON file by itself.
    package static func record(_ bytes: [UInt8], _ format: ImportFormat) -> SourceRecord {
        switch format {
        case .auth0: (try? Auth0User.read(bytes, nil)) ?? .flaw(.malformed)
        case .firebase: FirebaseUser.read(bytes, nil)
        case .keycloak, .supabase: KeycloakUser.read(bytes)
        }
    }

    private static func read(
        _ record: RecordReader.Record, _ body: ([UInt8]) -> SourceRecord
    ) -> (record: SourceRecord, line: Int) {
        switch record.content {
        case .success(let bytes): (body(bytes), record.line)
        case .failure(let flaw): (.flaw(flaw), record.line)
        }
    }
}
