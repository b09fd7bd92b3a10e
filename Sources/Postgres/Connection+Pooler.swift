extension Connection {
    /// Transactions on each of two connections that are looked at before a pooler counts as one that gives
    /// every client a connection of its own.
    private static let transactionsMax = 16

    /// Refuses a pooler that gives each transaction another connection to the server, as PgBouncer does with
    /// `pool_mode = transaction`.
    ///
    /// What a connection sets for itself, such as whether commits are durable, would be set for whoever comes
    /// next. Costs one query where nothing but a relay of bytes is in between: a pooler makes up the process
    /// id that it tells a client, and the server tells its own. Where they differ, a second connection shows
    /// whether the two share processes of the server.
    ///
    /// - Throws: `.connectionFailed` for such a pooler; else as `execute` does.
    package func refuseSharedSessions(url: String) throws {
        var own = Set([try servingProcessID()])
        if own == [backendProcessID] { return }
        let other = try Connection(url: url, applicationName: "account-ledger pooler check")
        defer { other.close() }
        var others: Set<Int32> = []
        for _ in 0..<Self.transactionsMax {
            others.insert(try other.servingProcessID())
            own.insert(try servingProcessID())
            guard own.count == 1, own.isDisjoint(with: others) else {
                throw PostgresError.connectionFailed(
                    """
                    a pooler before Postgres gives each transaction another connection, and commits might \
                    not be durable: connect to Postgres itself, or let it pool by session
                    """)
            }
        }
    }

    /// The process that serves a transaction, as the server itself says; without a prepared statement, which
    /// a pooler may keep for somebody else. (Unqualified: a test plays poolers with a function in its place.)
    private func servingProcessID() throws -> Int32 {
        var digits: [UInt8] = []
        try copyOut("COPY (SELECT pg_backend_pid()) TO STDOUT") { chunk in
            for index in chunk.indices { digits.append(chunk[index]) }
        }
        guard let id = Int32(String(decoding: digits.dropLast(), as: UTF8.self)) else {
            throw PostgresError.unexpectedResult("a process id that is no number")
        }
        return id
    }
}
