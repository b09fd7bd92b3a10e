internal import CLibPQ

extension Connection {
    /// The maximum number of calls in one pipeline.
    package static let pipelineCallsMax = 4_096

    /// Executes one statement, preparing it in the same round trip if needed.
    ///
    /// - Throws: as `pipeline`.
    package func query(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) throws(PostgresError) -> QueryResult {
        let results = try pipeline([Call(statement, parameters)])
        guard let result = results.first else { throw .unexpectedResult("no result") }
        return result
    }

    /// Sends all calls and one sync in one round trip, and returns their results in order.
    ///
    /// Statements that are not prepared yet are prepared in the same round trip. Outside a
    /// transaction the calls are one, unless one of them opens it. Once a call fails, the server
    /// skips the rest, including a COMMIT; the connection stays usable, and a transaction that was
    /// open remains open as a failed one, to be ended by `rollBack()`. Put COMMIT last: its outcome
    /// is then in doubt only after `connectionLost` and `timedOut`.
    ///
    /// - Throws: `.server` with the first refusal and the index of its call; also, with code
    ///   `25P02`, when the server answers COMMIT by rolling back. `.unexpectedResult` before
    ///   anything is sent. `.connectionLost` and `.timedOut` close the connection.
    package func pipeline(_ calls: [Call]) throws(PostgresError) -> [QueryResult] {
        guard !calls.isEmpty else { return [] }
        let handle = try openHandle()
        let deadline = callDeadline
        let steps = try queue(calls, handle: handle)
        guard handle.sendSync() else { throw lostConnection(handle) }
        return try collect(steps, of: calls, handle: handle, until: deadline)
    }

    /// As ``pipeline(_:)``, but the calls are created in parts, and the server starts each part while the
    /// next one is being created.
    ///
    /// For an open transaction: if a part throws, those before it have been executed, and the transaction
    /// must be rolled back.
    ///
    /// - Returns: the results of all parts, in order.
    /// - Throws: as ``pipeline(_:)``, and any error that a part throws.
    package func pipeline(parts: [() throws -> [Call]]) throws -> [QueryResult] {
        let handle = try openHandle()
        let deadline = callDeadline
        var calls: [Call] = []
        var steps: [PipelineStep] = []
        do {
            for part in parts {
                guard calls.isEmpty || handle.flush() >= 0 else { throw lostConnection(handle) }
                let made = try part()
                steps += try queue(made, after: calls.count, handle: handle)
                calls += made
            }
        } catch {
            guard !steps.isEmpty, isUsable else { throw error }
            guard handle.sendSync() else { throw lostConnection(handle) }
            _ = try collect(steps, of: calls, handle: handle, until: deadline)
            throw error
        }
        guard handle.sendSync() else { throw lostConnection(handle) }
        return try collect(steps, of: calls, handle: handle, until: deadline)
    }

    /// Encodes calls and queues them after `count` others of the same pipeline.
    private func queue(
        _ calls: [Call], after count: Int = 0, handle: ConnectionHandle
    ) throws(PostgresError) -> [PipelineStep] {
        guard count + calls.count <= Self.pipelineCallsMax else {
            throw .unexpectedResult("more than \(Self.pipelineCallsMax) calls in a pipeline")
        }
        try encoding.encode(calls)
        try enterPipelineMode(handle)
        return try send(calls, after: count, handle: handle)
    }

    private func enterPipelineMode(_ handle: ConnectionHandle) throws(PostgresError) {
        guard !isInPipelineMode else { return }
        guard handle.enterPipelineMode() else { throw lostConnection(handle) }
        isInPipelineMode = true
    }

    /// Queues all calls, each after its preparation if no prepared form fits.
    ///
    /// Calls that must be refused are refused before the first one is queued.
    private func send(
        _ calls: [Call], after count: Int, handle: ConnectionHandle
    ) throws(PostgresError) -> [PipelineStep] {
        var steps: [PipelineStep] = []
        steps.reserveCapacity(calls.count * 2)
        do throws(PostgresError) {
            for (index, call) in calls.enumerated() {
                let types = encoding.types(ofCall: index)
                if let known = try prepared.serverName(for: call.statement, types: types) {
                    steps.append(.execute(call: count + index, serverName: known))
                    continue
                }
                let name = try prepared.add(call.statement, types: types)
                steps.append(.prepare(call: count + index, serverName: name))
                steps.append(.execute(call: count + index, serverName: name))
            }
        } catch {
            for case .prepare(let index, _) in steps {
                prepared.dropUnconfirmed(of: calls[index - count].statement)
            }
            throw error
        }
        for step in steps {
            let isQueued =
                switch step {
                case .prepare(let index, let name):
                    handle.sendPrepare(
                        calls[index - count].statement.sql, as: name,
                        types: encoding.types(ofCall: index - count))
                case .execute(let index, let name):
                    handle.sendExecute(name, call: index - count, of: encoding)
                }
            guard isQueued else { throw lostConnection(handle) }
        }
        return steps
    }

    /// Reads results until the sync returns; only then is the connection ready for more.
    private func collect(
        _ steps: [PipelineStep], of calls: [Call], handle: ConnectionHandle,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [QueryResult] {
        var results: [QueryResult] = []
        results.reserveCapacity(calls.count)
        var first: ServerError?
        var position = 0
        while true {
            try awaitResult(handle, until: deadline)
            guard let result = handle.nextResult() else {
                // A null result ends one step; more nulls than steps would loop forever.
                guard handle.status == CONNECTION_OK else { throw lostConnection(handle) }
                position += 1
                guard position <= steps.count + 1 else {
                    throw unexpectedReply("results out of step")
                }
                continue
            }
            let step = position < steps.count ? steps[position] : nil
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                dropUnconfirmed(steps, of: calls)
                if let first { throw .server(first) }
                guard results.count == calls.count else {
                    throw unexpectedReply("results are missing")
                }
                guard !handle.hasUnconfirmedCommit else { throw unexpectedReply(Self.unconfirmed) }
                return results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                switch step {
                case .prepare(let index, let name)?:
                    prepared.confirm(calls[index].statement, serverName: name)
                case .execute(let index, _)?:
                    first = first ?? Self.brokenCommit(calls[index], result, at: index)
                    results.append(result)
                case nil: throw unexpectedReply("a result without a call")
                }
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_FATAL_ERROR:
                let error = try refusal(from: result, callIndex: step?.call, handle: handle)
                first = first ?? error
                if let step { forgetPlan(of: calls[step.call].statement, after: error.state) }
            default: throw unexpectedReply("COPY cannot run in a pipeline")
            }
        }
    }

    /// The commit may be lost in a failover, as after a lost connection: its outcome is unknown.
    private static let unconfirmed = "the wait for a standby to confirm a commit was cancelled"

    /// The server answers COMMIT in a failed transaction with a rollback that looks like success.
    private static func brokenCommit(
        _ call: Call, _ result: QueryResult, at index: Int
    ) -> ServerError? {
        guard call.statement == .commit, result.commandTag != "COMMIT" else { return nil }
        return ServerError(
            state: .inFailedTransaction, severity: "ERROR",
            message: "the transaction had failed and was rolled back", callIndex: index)
    }

    private func dropUnconfirmed(_ steps: [PipelineStep], of calls: [Call]) {
        for case .prepare(let index, _) in steps {
            prepared.dropUnconfirmed(of: calls[index].statement)
        }
    }

    /// Discards a statement's prepared form when the server no longer has it, or no longer accepts
    /// its plan.
    private func forgetPlan(of statement: Statement, after state: SQLState) {
        switch state {
        case .invalidStatementName: prepared.forgetAll()
        case .featureNotSupported: prepared.forget(statement)
        default: break
        }
    }
}

/// One expected reply of the server in a pipeline.
private enum PipelineStep {
    case prepare(call: Int, serverName: String)
    case execute(call: Int, serverName: String)

    var call: Int {
        switch self {
        case .prepare(let call, _), .execute(let call, _): call
        }
    }
}
