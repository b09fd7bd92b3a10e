extension Connection {
    /// Connections that are held beside this one to see whether any two share a process.
    private static let othersCount = 4

    /// Refuses a pooler that gives each transaction another connection to the server, as PgBouncer does with
    /// `pool_mode = transaction`.
    ///
    /// What a connection sets for itself, such as whether commits are durable, would be set for whoever comes
    /// next. Costs one query where nothing but a relay of bytes is in between: a pooler makes up the process
    /// id that it tells a client, and the server tells its own. Where they differ, it may not change between
    /// two transactions, nor be that of another connection that is open; several, because there may be several
    /// poolers.
    ///
    /// - Throws: `.connectionFailed` for such a pooler; else as `execute` does.
    package func refuseSharedSessions(url: String) throws {
        try refuseSharedSessions {
            try Connection(url: url, applicationName: "account-ledger pooler check")
        }
    }

    func refuseSharedSessions(connectingOthers connect: () throws -> Connection) throws {
        let own = try servingProcessID()
        if own == backendProcessID { return }
        var seen = Set([own])
        var others: [Connection] = []
        for _ in 0..<Self.othersCount {
            let other = try connect()
            others.append(other)
            guard seen.insert(try other.servingProcessID()).inserted,
                try servingProcessID() == own
            else {
                throw PostgresError.connectionFailed(
                    """
                    a pooler before Postgres gives each transaction another connection, and commits might \
                    not be durable: connect to Postgres itself, or let it pool by session
                    """)
            }
        }
        others.forEach { $0.close() }
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
