/// The server's bytes did not end as they must.
package enum ExchangeFailure: Error {
    case timedOut
    case answerTooLong
}

extension ClientSocket {
    /// Sends bytes, as far as the server takes them, and returns all bytes that it sends until it closes the
    /// connection: it may answer and close before it has read everything.
    ///
    /// After a quiet period the sending side is closed, which ends the wait of a server for more bytes.
    ///
    /// - Parameters:
    ///   - bytes: what to send.
    ///   - quietMilliseconds: the quiet period.
    ///   - waitSecondsMax: limits the wait after that.
    ///   - bytesMax: limits the server's bytes.
    /// - Returns: the server's bytes.
    /// - Throws: `ExchangeFailure` when a limit is exceeded; `SocketError`.
    package func exchange(
        _ bytes: [UInt8], quietMilliseconds: Int, waitSecondsMax: Int, bytesMax: Int
    ) throws -> [UInt8] {
        try? send(bytes)
        var received: [UInt8] = []
        var isQuiet = false
        try limitWaits(milliseconds: quietMilliseconds)
        while true {
            if let next = try nextBytes() {
                guard !next.isEmpty else { return received }
                received += next
                guard received.count <= bytesMax else { throw ExchangeFailure.answerTooLong }
            } else {
                guard !isQuiet else { throw ExchangeFailure.timedOut }
                isQuiet = true
                endSending()
                try limitWaits(milliseconds: waitSecondsMax * 1000)
            }
        }
    }
}
