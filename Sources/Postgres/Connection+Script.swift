internal import CLibPQ

extension Connection {
    /// Runs a script of one or more statements and discards its results.
    ///
    /// A script that opens no transaction is one: at the first error the server undoes and skips
    /// everything. For migrations, SET and similar; takes no parameters. COPY closes the
    /// connection.
    ///
    /// - Throws: `.server` with the first refusal. `.unexpectedResult` for a script with U+0000.
    ///   `.connectionLost` and `.timedOut` close the connection.
    package func execute(_ script: String) throws(PostgresError) {
        let handle = try sendScript(script)
        let deadline = callDeadline
        var first: ServerError?
        while true {
            try awaitResult(handle, until: deadline)
            guard let result = handle.nextResult() else { break }
            switch result.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
            case PGRES_FATAL_ERROR:
                let error = try refusal(from: result, handle: handle)
                first = first ?? error
            default: throw unexpectedReply("COPY cannot run in a script")
            }
        }
        if let first { throw .server(first) }
    }

    /// Leaves pipeline mode and queues a script in the simple query protocol.
    func sendScript(_ script: String) throws(PostgresError) -> ConnectionHandle {
        let handle = try openHandle()
        guard !script.utf8.contains(0) else {
            throw .unexpectedResult("a script holds U+0000, which Postgres cannot read")
        }
        if isInPipelineMode {
            guard handle.exitPipelineMode() else { throw lostConnection(handle) }
            isInPipelineMode = false
        }
        guard handle.send(script: script) else { throw lostConnection(handle) }
        return handle
    }
}
