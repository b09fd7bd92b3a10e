/// The rules for SQL, which let one statement serve plain Postgres and Citus.
enum SQLRule: Int, CaseIterable, Comparable {
    /// Every table of tenants is restricted by `tenant_id = $n`, a scalar.
    case scalarTenant = 1
    /// A tenant is compared with `=`: Citus routes nothing else.
    case plainEquals = 2
    /// No UPDATE, DELETE or ON CONFLICT calls a function whose value changes.
    case fixedClock = 3
    /// Statements over all tenants are in the files that begin with ``fileOfAllTenants``; they read only and lock nothing.
    case readsAllTenants = 4
    /// No advisory lock, list of locks, size or address of rows decides: only one node knows it.
    case everyNode = 5
    /// No statement reads a view of a read model, which a rebuild replaces while snapshots are open.
    case servedTable = 7

    static func < (one: SQLRule, other: SQLRule) -> Bool { one.rawValue < other.rawValue }

    /// Finds the rules that a text breaks.
    ///
    /// - Parameters:
    ///   - sql: Statements, or a fragment of one.
    ///   - tables: The tables with a `tenant_id`.
    ///   - file: The name of the file without its extension.
    /// - Returns: The broken rules; none for text that keeps all.
    static func broken(
        by sql: String, tables: Set<String>, in file: String = ""
    ) -> Set<SQLRule> {
        var broken: Set<SQLRule> = []
        if sql.contains(nodeBound) { broken.insert(.everyNode) }
        if sql.contains(operators) { broken.insert(.plainEquals) }
        if sql.contains(view) { broken.insert(.servedTable) }
        for statement in SQLToken.statements(sql) {
            let words = statement.allWords
            if !hasScalarTenants(words) { broken.insert(.scalarTenant) }
            let kinds = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "COPY"]
            let queries = statement.queries
            if kinds.contains(words.first ?? ""),
                !queries.allSatisfy({ SQLQuery($0, tables: tables).isOfOneTenant })
            {
                broken.insert(.scalarTenant)
            }
            if !isFixed(words) || !queries.allSatisfy(isFixedInConflicts) {
                broken.insert(.fixedClock)
            }
            if file.hasPrefix(fileOfAllTenants), !writing.isDisjoint(with: words) {
                broken.insert(.readsAllTenants)
            }
        }
        if file.hasPrefix(fileOfAllTenants) { broken.remove(.scalarTenant) }
        return broken
    }

    static let fileOfAllTenants = "AllTenants"
    /// The words of statements that write or lock rows or tables.
    private static let writing: Set<String> = [
        "COPY", "DELETE", "INSERT", "LOCK", "MERGE", "SHARE", "TRUNCATE", "UPDATE",
    ]

    private static var nodeBound: some RegexComponent {
        /advisory_|pg_locks|pg_[a-z_]*relation_size|pg_table_size|ctid\s*(?:<|>|BETWEEN)|::tid\b/
    }

    private static var view: some RegexComponent {
        /(?:FROM|JOIN|INTO|UPDATE)\s+(?:public\.)?(?:user_providers|account_audit|conflicts)\b/
    }

    private static var operators: some RegexComponent {
        /tenant_id(?:[^()]*\))?\s+IS NOT DISTINCT|IS NOT DISTINCT FROM\s+\(?(?:\w+\.)?tenant_id/
    }

    /// Checks that tenants are compared with parameters only.
    private static func hasScalarTenants(_ words: [String]) -> Bool {
        for (index, word) in words.enumerated() where isTenant(word) {
            let rest = words[(index + 1)...]
            if index > 1, words[index - 1] == "(", words[index - 2] == "USING" { return false }
            if index > 1, words[index - 1] == "=", !isScalar(words[index - 2]),
                !isTenant(words[index - 2])
            {
                return false
            }
            guard let sign = rest.first else { continue }
            if ["<>", "<", ">", "<=", ">=", "IN", "NOT"].contains(sign) { return false }
            let isCompared = sign == "=" || rest.starts(with: ["IS", "NOT", "DISTINCT", "FROM"])
            let value = rest.dropFirst(sign == "=" ? 1 : 4).first ?? ""
            if isCompared, !isScalar(value) { return false }
        }
        return true
    }

    static func isTenant(_ word: String) -> Bool {
        word == "tenant_id" || word.hasSuffix(".tenant_id")
    }

    /// Checks for a parameter, a quoted literal, or an interpolated one.
    static func isScalar(_ word: String) -> Bool {
        word.hasPrefix("$") || word == "''" || word == SQLTexts.placeholder + "quoteLiteral"
    }

    private static let volatile: Set<String> = [
        "clock_timestamp", "timeofday", "random", "gen_random_uuid", "gen_random_bytes", "nextval",
        "setval",
    ]
    private static let stable: Set<String> = [
        "now", "statement_timestamp", "transaction_timestamp", "CURRENT_TIMESTAMP",
    ]

    private static func isFixed(_ words: [String]) -> Bool {
        let writes = words.indices.contains { index in
            words[index] == "DELETE"
                || (words[index] == "UPDATE"
                    && !(index > 0 && ["FOR", "KEY", "DO"].contains(words[index - 1])))
        }
        return !writes || volatile.isDisjoint(with: words)
    }

    /// Citus takes not even a stable function in ON CONFLICT.
    private static func isFixedInConflicts(_ query: [SQLToken]) -> Bool {
        guard let start = query.firstIndex(of: .word("CONFLICT")) else { return true }
        return volatile.union(stable).isDisjoint(with: Array(query[start...]).allWords)
    }
}

/// One query, without those in its parentheses.
struct SQLQuery {
    private let tokens: [SQLToken]
    private let tables: Set<String>

    init(_ tokens: [SQLToken], tables: Set<String>) {
        self.tokens = tokens
        self.tables = tables
    }

    /// Whether each table of tenants is restricted to the tenant of a parameter.
    var isOfOneTenant: Bool {
        var aliases: [String] = []
        var isInserted = true
        var index = 0
        var awaitsTable = false
        while index < tokens.count {
            let word = tokens[index].word
            let former = tokens.word(index - 1)
            switch word {
            case "INTO":
                let table = tokens.word(index + 1) ?? ""
                if has(table) { isInserted = insertsOneTenant(from: index + 2) }
                index += 1
            case "UPDATE":
                awaitsTable = !["FOR", "KEY", "DO"].contains(former ?? "")
            case "FROM", "USING":
                awaitsTable = former != "DISTINCT"
            case "JOIN", ",":
                awaitsTable = word == "JOIN" || isInList(index)
            case "LATERAL", "ONLY", "ROWS": break
            default:
                if awaitsTable {
                    if let word, has(word), !isCall(index) { aliases.append(alias(after: index)) }
                    awaitsTable = false
                }
            }
            index += 1
        }
        return isInserted && isRestricted(aliases)
    }

    private func has(_ table: String) -> Bool {
        let name = table.split(separator: ".").last.map(String.init) ?? ""
        return tables.contains(name) || name.hasPrefix(SQLTexts.placeholder)
    }

    private func isCall(_ index: Int) -> Bool {
        guard tokens.indices.contains(index + 1) else { return false }
        return tokens[index + 1].group != nil
    }

    /// Whether a comma parts tables.
    private func isInList(_ comma: Int) -> Bool {
        let clauses: Set = [
            "SELECT", "SET", "WHERE", "ON", "ORDER", "GROUP", "RETURNING", "VALUES", "FROM",
            "USING", "WITH",
        ]
        let clause = tokens[..<comma].last { clauses.contains($0.word ?? "") }?.word
        return clause == "FROM" || clause == "USING" || clause == "ON"
    }

    private func alias(after index: Int) -> String {
        let next = tokens.word(index + 1) == "AS" ? index + 2 : index + 1
        guard let word = tokens.word(next), let first = word.first, first.isLowercase else {
            return tokens.word(index) ?? ""
        }
        return word
    }

    private func isRestricted(_ aliases: [String]) -> Bool {
        let words = tokens.ownWords
        var restricted: Set<String> = []
        for (index, word) in words.enumerated() where SQLRule.isTenant(word) {
            let rest = words[(index + 1)...]
            let skipped =
                rest.first == "="
                ? 1 : rest.starts(with: ["IS", "NOT", "DISTINCT", "FROM"]) ? 4 : 0
            guard skipped > 0, SQLRule.isScalar(rest.dropFirst(skipped).first ?? "") else {
                continue
            }
            restricted.insert(String(word.dropLast("tenant_id".count).dropLast()))
        }
        if aliases.count == 1, restricted.contains("") { return true }
        return restricted.isSuperset(of: aliases)
    }

    /// Checks that the column `tenant_id` of an INSERT is a parameter.
    private func insertsOneTenant(from start: Int) -> Bool {
        guard let columns = tokens[start...].first(where: { $0.group != nil })?.group,
            let column = columns.split(separator: .word(",")).firstIndex(where: {
                $0.first == .word("tenant_id")
            }),
            let values = tokens[start...].firstIndex(where: {
                ["VALUES", "SELECT"].contains($0.word ?? "")
            })
        else { return false }
        let list =
            tokens.word(values) == "VALUES"
            ? (tokens.indices.contains(values + 1) ? tokens[values + 1].group ?? [] : [])
            : Array(tokens[(values + 1)...])
        let expressions = list.split(separator: .word(","), omittingEmptySubsequences: false)
        guard expressions.indices.contains(column) else { return false }
        return SQLRule.isScalar(expressions[column].first?.word ?? "")
    }
}
