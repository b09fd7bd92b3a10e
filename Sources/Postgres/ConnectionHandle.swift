internal import CLibPQ

/// The libpq handle of one connection; owns it and closes it on deinitialization.
///
/// Only this class touches the pointer. Each method is one libpq call and decides nothing.
@safe final class ConnectionHandle {
    private let pointer: OpaquePointer
    /// Whether the server has warned that a commit may not have reached its synchronous standby:
    /// the wait was cancelled, and the server replied as if it had completed.
    private(set) var hasUnconfirmedCommit = false

    /// Starts to connect without waiting; nil when out of memory.
    init?(settings: [String: String]) {
        let keywords = CStrings(Array(settings.keys))
        let values = CStrings(Array(settings.values))
        let started = unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in
                unsafe PQconnectStartParams(keywords, values, 0)
            }
        }
        guard let started = unsafe started else { return nil }
        unsafe pointer = unsafe started
    }

    deinit {
        // Sends the server a termination message if that needs no waiting.
        unsafe PQfinish(pointer)
    }

    /// Parses a URL or a list of settings as libpq does; nil if it is invalid.
    static func parse(_ url: String) -> [String: String]? {
        guard let options = unsafe PQconninfoParse(url, nil) else { return nil }
        defer { unsafe PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe given[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return given
    }

    // MARK: State

    var status: ConnStatusType { unsafe PQstatus(pointer) }
    var transactionStatus: PGTransactionStatusType { unsafe PQtransactionStatus(pointer) }
    var socket: Int32 { unsafe PQsocket(pointer) }
    var isEncrypted: Bool { unsafe PQsslInUse(pointer) != 0 }
    var serverVersion: Int32 { unsafe PQserverVersion(pointer) }
    /// Whether the server accepts no writes because it is a standby.
    var isStandby: Bool {
        unsafe PQparameterStatus(pointer, "in_hot_standby").map { unsafe String(cString: $0) }
            == "on"
    }
    var backendProcessID: Int32 { unsafe PQbackendPID(pointer) }

    /// libpq's last error message, on one line.
    var message: String {
        guard let text = unsafe PQerrorMessage(pointer) else { return "no reason given" }
        let lines = unsafe String(cString: text).split(whereSeparator: \.isNewline)
        let line = lines.map { String($0.trimmingPrefix(while: \.isWhitespace)) }
            .joined(separator: "; ")
        return line.isEmpty ? "no reason given" : line
    }

    // MARK: Connecting

    /// `PG_DIAG_SOURCE_FUNCTION`.
    private static let sourceFunction = Int32(UInt8(ascii: "R"))

    func pollConnecting() -> PostgresPollingStatusType { unsafe PQconnectPoll(pointer) }

    /// Records unconfirmed commits, drops all other notices instead of printing them, and makes
    /// sending non-blocking.
    func becomeNonBlocking() -> Bool {
        // Not retained: libpq delivers notices only within calls of this object's methods.
        unsafe PQsetNoticeReceiver(
            pointer,
            { handle, notice in
                // The text is in the server's language; the function's name is not.
                guard let handle = unsafe handle,
                    let function = unsafe PQresultErrorField(
                        notice, ConnectionHandle.sourceFunction),
                    unsafe String(cString: function) == "SyncRepWaitForLSN"
                else { return }
                unsafe Unmanaged<ConnectionHandle>.fromOpaque(handle).takeUnretainedValue()
                    .hasUnconfirmedCommit = true
            }, Unmanaged.passUnretained(self).toOpaque())
        return unsafe PQsetnonblocking(pointer, 1) == 0
    }

    // MARK: Sending

    func enterPipelineMode() -> Bool { unsafe PQenterPipelineMode(pointer) == 1 }
    func exitPipelineMode() -> Bool { unsafe PQexitPipelineMode(pointer) == 1 }
    func sendSync() -> Bool { unsafe PQpipelineSync(pointer) == 1 }
    func send(script: String) -> Bool { unsafe PQsendQuery(pointer, script) == 1 }

    func sendPrepare(_ sql: String, as name: String, types: ArraySlice<UInt32>) -> Bool {
        unsafe types.withUnsafeBufferPointer { types in
            unsafe PQsendPrepare(pointer, name, sql, Int32(types.count), types.baseAddress) == 1
        }
    }

    /// Executes the statement prepared under a name; parameters and results are in binary.
    func sendExecute(_ name: String, call index: Int, of calls: borrowing EncodedCalls) -> Bool {
        unsafe calls.withParameters(ofCall: index) { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1) == 1
        }
    }

    /// Queues part of a copy; bytes that the socket does not accept at once are kept until flushed.
    func sendCopy(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe PQputCopyData(
            pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            == 1
    }

    func endCopy() -> Bool { unsafe PQputCopyEnd(pointer, nil) == 1 }

    // MARK: Receiving

    /// Writes queued data as far as the socket accepts it: 0 all written, 1 some left, -1 failed.
    func flush() -> Int32 { unsafe PQflush(pointer) }
    func consumeInput() -> Bool { unsafe PQconsumeInput(pointer) == 1 }
    /// Whether a call for the next result would wait.
    var isBusy: Bool { unsafe PQisBusy(pointer) != 0 }

    func nextResult() -> QueryResult? {
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        return unsafe QueryResult(result)
    }

    /// The result of one read of a copy.
    enum CopyChunk {
        case row(CopiedRow)
        case notYet
        case end
        case failed
    }

    func nextCopyChunk() -> CopyChunk {
        var row: UnsafeMutablePointer<CChar>?
        let length = unsafe PQgetCopyData(pointer, &row, 1)
        switch length {
        case 0: return .notYet
        // The end, or an error that the next result reports.
        case -1: return .end
        default:
            guard length > 0, let row = unsafe row else { return .failed }
            return unsafe .row(CopiedRow(row, count: Int(length)))
        }
    }
}

/// One row of a copy; owns the memory that libpq allocated for it.
@safe final class CopiedRow {
    private let start: UnsafeMutablePointer<CChar>
    private let count: Int

    init(_ start: UnsafeMutablePointer<CChar>, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    deinit {
        unsafe PQfreemem(start)
    }

    func withBytes(_ body: (Span<UInt8>) throws -> Void) rethrows {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        try unsafe body(bytes.bindMemory(to: UInt8.self).span)
    }
}
