internal import CLibPQ

extension Connection {
    /// Streams a `COPY ... TO STDOUT`, passing each row of data to the body as it arrives.
    ///
    /// Memory stays at one row. The statement deadline bounds each wait for more data, not the
    /// whole copy. An error that the body throws closes the connection, since a copy cannot be left
    /// half read.
    ///
    /// - Throws: the body's error; otherwise as `execute`.
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
            default: throw unexpectedReply("COPY FROM cannot run here")
            }
        }
        if let first { throw PostgresError.server(first) }
    }

    /// The number of bytes of a copy that are sent at once.
    private static let copyChunkBytes = 256 * 1024

    /// Sends rows through a `COPY ... FROM STDIN (FORMAT binary)`.
    ///
    /// - Throws: `.server` when the server refuses the statement or a row; no row is written then.
    ///   `.unexpectedResult`, before anything is sent, for a value that Postgres cannot store.
    ///   `.connectionLost` and `.timedOut` close the connection.
    package func copyIn(_ sql: String, _ rows: inout CopyRows) throws(PostgresError) {
        try unsafe rows.withBytes { (bytes: UnsafeRawBufferPointer) throws(PostgresError) in
            let handle = try sendScript(sql)
            let deadline = callDeadline
            var first: ServerError?
            while true {
                try awaitResult(handle, until: deadline)
                guard let result = handle.nextResult() else { break }
                switch result.status {
                case PGRES_COPY_IN: unsafe try send(bytes, handle: handle, until: deadline)
                case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
                case PGRES_FATAL_ERROR:
                    let error = try refusal(from: result, handle: handle)
                    first = first ?? error
                default: throw unexpectedReply("not a COPY FROM STDIN")
                }
            }
            if let first { throw .server(first) }
        }
    }

    private func send(
        _ bytes: UnsafeRawBufferPointer, handle: ConnectionHandle,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.copyChunkBytes, bytes.count)
            let chunk = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            guard unsafe handle.sendCopy(chunk) else { throw lostConnection(handle) }
            while handle.flush() == 1 { try exchange(handle, until: deadline) }
            start = end
        }
        guard handle.endCopy() else { throw lostConnection(handle) }
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
            case .failed: throw lostConnection(handle)
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
