internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/log/checkpoint`: the latest signed checkpoint, as a signed note.
struct LogCheckpointRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/checkpoint"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readCheckpoint, by: .readers)
        try await auditRequest.record(try QueryParameters(call.request, []))
        let latest: SignedCheckpoint?
        do {
            latest = try await call.services.audit.proofs.latestCheckpoint(of: call.tenant)
        } catch {
            throw .ofProof(error)
        }
        guard let latest else { throw .noProof(.nothingSigned) }
        return .text(latest.note)
    }
}

/// `GET /v1/log/checkpoints`: every signed checkpoint, by size; never an unsigned one.
struct LogCheckpointsRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/checkpoints"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listCheckpoints, by: .readers)
        let parameters = try QueryParameters(call.request, ["from", "to", "limit"])
        let from = try parameters.position("from")?.value ?? 0
        let to = try parameters.position("to")?.value ?? .max
        guard from <= to else { throw QueryParameters.flaw("from", "must not be greater than to") }
        let limit = try parameters.limit()
        try await auditRequest.record(parameters)
        do {
            let checkpoints = try await call.services.audit.proofs.checkpoints(
                of: call.tenant, sizes: from...to, limit: limit)
            return .json(CheckpointsAnswer(checkpoints: checkpoints, limit: limit, to: to))
        } catch {
            throw .ofProof(error)
        }
    }
}

/// A page of checkpoints.
struct CheckpointsAnswer: JSONWritable {
    let checkpoints: [SignedCheckpoint]
    let limit: Int
    let to: Int64

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("checkpoints")
            writer.array { writer in
                for checkpoint in checkpoints { checkpoint.write(to: &writer) }
            }
            let last = checkpoints.last?.size ?? to
            let hasMore = checkpoints.count >= limit && last < to
            if hasMore { writer.member("next", String(last + 1)) }
            writer.name("more")
            writer.flag(hasMore)
        }
    }
}

/// `GET /v1/log/inclusion`: the proof that a signed checkpoint's tree contains an event.
struct LogInclusionRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/inclusion"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.proveInclusion, by: .readers)
        let parameters = try QueryParameters(call.request, ["position", "size"])
        guard let position = try parameters.position("position") else {
            throw QueryParameters.flaw("position", "is required")
        }
        let size = try parameters.position("size")?.value
        if let size, position.value >= size {
            throw QueryParameters.flaw("position", "must be less than size")
        }
        try await auditRequest.record(parameters)
        let result: Result<ProvedInclusion, ProofRefusal>
        do {
            result = try await call.services.audit.proofs.inclusion(
                of: position, in: call.tenant, size: size)
        } catch {
            throw .ofProof(error)
        }
        let proof = try result.proof()
        guard AcceptHeader.prefersText(call.request.headers) else { return .json(proof) }
        guard let text = proof.tlogProof else { throw .proofFailed }
        return .text(text)
    }
}

/// `GET /v1/log/consistency`: the proof that one signed checkpoint's tree extends another's.
struct LogConsistencyRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/consistency"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.proveConsistency, by: .readers)
        let parameters = try QueryParameters(call.request, ["old", "size"])
        guard let old = try parameters.position("old")?.value else {
            throw QueryParameters.flaw("old", "is required")
        }
        let size = try parameters.position("size")?.value
        try await auditRequest.record(parameters)
        let result: Result<ProvedConsistency, ProofRefusal>
        do {
            result = try await call.services.audit.proofs.consistency(
                from: old, to: size, in: call.tenant)
        } catch {
            throw .ofProof(error)
        }
        return .json(try result.proof())
    }
}

/// `GET /v1/log/keys`: the keys that sign the checkpoints or have signed some of them.
struct LogKeysRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/keys"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listLogKeys, by: .readers)
        try await auditRequest.record(try QueryParameters(call.request, []))
        do {
            return .json(
                LogKeysAnswer(
                    keys: try await call.services.audit.proofs.checkpointKeys(of: call.tenant)))
        } catch {
            throw .faulted(error)
        }
    }
}

/// The keys of a log, oldest first.
struct LogKeysAnswer: JSONWritable {
    let keys: [CheckpointKey]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("keys")
            writer.array { writer in
                for key in keys {
                    writer.object { writer in
                        writer.member("vkey", key.verifierKey)
                        writer.member("added_at", key.addedAt.description)
                    }
                }
            }
        }
    }
}

extension Result where Failure == ProofRefusal {
    /// Returns the proof.
    ///
    /// - Throws: the error for the caller if no checkpoint exists.
    fileprivate func proof() throws(APIError) -> Success {
        switch self {
        case .success(let proof): return proof
        case .failure(let refusal): throw .noProof(refusal)
        }
    }
}

extension APIError {
    /// Maps a fault of the proof reader: stored data that proves nothing is reported to the caller.
    fileprivate static func ofProof(_ fault: LedgerFault) -> APIError {
        fault == .internalFailure ? .proofFailed : .faulted(fault)
    }
}
