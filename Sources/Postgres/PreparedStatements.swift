/// The prepared statements of one connection: a server-side name per statement and set of parameter
/// types.
///
/// Parameters carry their types; a null carries none. A call reuses a prepared form if each
/// parameter that is not null has the type it was prepared with; otherwise another form is
/// prepared, so that a value is never read as a different type than it was written as.
struct PreparedStatements {
    /// The maximum number of forms of all statements on one connection.
    static let formsMax = 2_000

    /// One prepared form.
    struct Form {
        let sql: String
        let serverName: String
        let types: [UInt32]
        var isReady = false
    }

    private var forms: [String: [Form]] = [:]
    private var count = 0
    private var made = 0

    /// Returns the server-side name that fits the call, or nil if it must be prepared first.
    func serverName(
        for statement: Statement, types: ArraySlice<UInt32>
    ) throws(PostgresError) -> String? {
        guard let known = forms[statement.name] else { return nil }
        for form in known {
            guard form.sql == statement.sql else {
                throw .unexpectedResult("two statements have the name \(statement.name)")
            }
            if Self.fits(types, form.types) { return form.serverName }
        }
        return nil
    }

    private static func fits(_ types: ArraySlice<UInt32>, _ prepared: [UInt32]) -> Bool {
        guard types.count == prepared.count else { return false }
        var index = 0
        for type in types {
            guard type == TypeOID.unspecified || type == prepared[index] else { return false }
            index += 1
        }
        return true
    }

    /// Records that a form is being prepared, under a server-side name that was never used before.
    mutating func add(
        _ statement: Statement, types: ArraySlice<UInt32>
    ) throws(PostgresError) -> String {
        guard count < Self.formsMax else {
            throw .unexpectedResult("more than \(Self.formsMax) prepared statements")
        }
        guard !statement.sql.utf8.contains(0) else {
            throw .unexpectedResult("the statement \(statement.name) holds U+0000")
        }
        made += 1
        count += 1
        // The number comes first, because the server uses only the first 63 bytes.
        let name = "p\(made)_\(statement.name)"
        forms[statement.name, default: []].append(
            Form(sql: statement.sql, serverName: name, types: Array(types)))
        return name
    }

    /// Records that the server has prepared the form last sent under this statement's name.
    mutating func confirm(_ statement: Statement, serverName: String) {
        guard let index = forms[statement.name]?.firstIndex(where: { $0.serverName == serverName })
        else { return }
        forms[statement.name]?[index].isReady = true
    }

    /// Removes forms that the server never confirmed, so that they are prepared again.
    mutating func dropUnconfirmed(of statement: Statement) {
        drop(of: statement) { !$0.isReady }
    }

    /// Removes all forms of a statement whose plan the server no longer accepts.
    mutating func forget(_ statement: Statement) {
        drop(of: statement) { _ in true }
    }

    private mutating func drop(of statement: Statement, where stale: (Form) -> Bool) {
        guard let known = forms[statement.name] else { return }
        let kept = known.filter { !stale($0) }
        count -= known.count - kept.count
        forms[statement.name] = kept.isEmpty ? nil : kept
    }

    /// Removes all forms after the server has discarded them.
    mutating func forgetAll() {
        forms.removeAll()
        count = 0
    }
}
