extension Connection {
    /// The number of additional connections opened to see whether any two share a server process.
    private static let probeCount = 4

    /// Refuses a pooler that assigns a server connection per transaction, such as PgBouncer with
    /// `pool_mode = transaction`.
    ///
    /// Through such a pooler, settings of one connection, such as whether commits are durable,
    /// would apply to other clients. Costs one query where only a relay of bytes is in between: a
    /// pooler invents the process id that it reports to a client, and the server reports its own.
    /// Where the two differ, the server's id must neither change between two transactions nor equal
    /// that of another open connection; several are opened, because there may be several poolers.
    ///
    /// - Throws: `.connectionFailed` for such a pooler; otherwise as `execute`.
    package func refuseTransactionPooling(url: String) throws {
        try refuseTransactionPooling {
            try Connection(url: url, applicationName: "account-ledger pooler check")
        }
    }

    func refuseTransactionPooling(connectingOthers connect: () throws -> Connection) throws {
        let own = try servingProcessID()
        if own == backendProcessID { return }
        var seen = Set([own])
        var others: [Connection] = []
        for _ in 0..<Self.probeCount {
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

    /// The process that serves a transaction, as reported by the server itself.
    ///
    /// Without a prepared statement, which a pooler may keep for another client. (Unqualified: a
    /// test simulates poolers with a function of this name.)
    private func servingProcessID() throws -> Int32 {
        var digits: [UInt8] = []
        try copyOut("COPY (SELECT pg_backend_pid()) TO STDOUT") { chunk in
            for index in chunk.indices { digits.append(chunk[index]) }
        }
        guard let id = Int32(String(decoding: digits.dropLast(), as: UTF8.self)) else {
            throw PostgresError.unexpectedResult("a process id that is not a number")
        }
        return id
    }
}
