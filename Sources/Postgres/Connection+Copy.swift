internal import CLibPQ

extension Connection {
    /// Streams a `COPY ... TO STDOUT`, lending each row of data to the body as it comes.
    ///
    /// Memory stays at one row. The statement deadline bounds each wait for more data, not the
    /// whole. An error that the body throws closes the connection, since a copy cannot be left half
    /// read.
    ///
    /// - Throws: what the body throws, else as `execute` does.
    package func copyOut(_ sql: String, _ onChunk: (Span<UInt8>) throws -> Void) throws {
        let handle = try sendScript(sql)
        var first: ServerError?
        while true {
            try awaitResult(handle, until: callDeadline)
            guard let result = handle.nextResult() else { break }
            switch result.status {
            case PGRES_COPY_OUT: try readCopy(handle, onChunk)
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
            case PGRES_FATAL_ERROR:
                let error = try refusal(from: result, handle: handle)
                first = first ?? error
            default: throw confused("COPY FROM cannot run here")
            }
        }
        if let first { throw PostgresError.server(first) }
    }

    private func readCopy(
        _ handle: ConnectionHandle, _ onChunk: (Span<UInt8>) throws -> Void
    ) throws {
        while true {
            switch handle.nextCopyChunk() {
            case .end: return
            case .notYet:
                try exchange(handle, until: callDeadline)
                drainRecord(handle) { true }
            case .failed: throw lost(handle)
            case .row(let row):
                do {
                    try row.withBytes(onChunk)
                } catch {
                    close()
                    throw error
                }
            }
        }
    }
}
