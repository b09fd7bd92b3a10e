internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/log/checkpoint`: the latest signed checkpoint, as a signed note.
struct LogCheckpointRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/checkpoint"
    static let operation = Operation(
        id: "get_checkpoint", tag: .log, summary: "The latest signed checkpoint, as a signed note",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .text(
            "text/plain", "ledger.example/default\n7\n\(ExampleValue.hash)\n\n\u{2014} ...\n"),
        refusals: [.noProof(.nothingSigned), .proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readCheckpoint)
        try await auditRequest.record(try QueryParameters(call))
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
    static let operation = Operation(
        id: "list_checkpoints", tag: .log, summary: "Every signed checkpoint, by size",
        access: .principal(.readers),
        parameters: [
            Parameter(name: "from", schema: .number, about: "The smallest size"),
            Parameter(name: "to", schema: .number, about: "The largest size"), .limit,
            ReasonHeader.parameter,
        ],
        answers: .json(CheckpointsAnswer.schema), refusals: [.proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listCheckpoints)
        let parameters = try QueryParameters(call)
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

    static let schema = Schema.object(
        "Checkpoints",
        [
            .required("checkpoints", .list(SignedCheckpoint.schema)),
            .optional("next", .number, "The size for the next `from`"),
            .required("more", .flag(false)),
        ])

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
    static let operation = Operation(
        id: "prove_inclusion", tag: .log,
        summary: "The proof that the tree of a signed checkpoint contains an event",
        about: "`Accept: text/plain` selects a C2SP tlog-proof.", access: .principal(.readers),
        parameters: [
            Parameter(
                name: "position", schema: .number.with(example: "1"),
                about: "The position of the event"
            ).required,
            Parameter(name: "size", schema: .number, about: "A signed size; by default the latest"),
            ReasonHeader.parameter,
        ],
        answers: [Operation.Answer].json(ProvedInclusion.schema)
            + [Operation.Answer].text("text/plain", "c2sp.org/tlog-proof@v1\nindex 1\n..."),
        refusals: .ofProof)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.proveInclusion)
        let parameters = try QueryParameters(call)
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
        guard call.prefersText else { return .json(proof) }
        guard let text = proof.tlogProof else { throw .proofFailed }
        return .text(text)
    }
}

/// `GET /v1/log/consistency`: the proof that one signed checkpoint's tree extends another's.
struct LogConsistencyRoute: Route {
    static let method = "GET"
    static let path = "/v1/log/consistency"
    static let operation = Operation(
        id: "prove_consistency", tag: .log,
        summary: "The proof that the tree of one signed checkpoint extends another's",
        access: .principal(.readers),
        parameters: [
            Parameter(
                name: "old", schema: .number.with(example: "4"), about: "The smaller signed size"
            ).required,
            Parameter(name: "size", schema: .number, about: "A signed size; by default the latest"),
            ReasonHeader.parameter,
        ],
        answers: .json(ProvedConsistency.schema),
        refusals: [APIError].ofProof + [.noProof(.oldSizeAboveSize(old: 42, size: 41))])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.proveConsistency)
        let parameters = try QueryParameters(call)
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
    static let operation = Operation(
        id: "list_log_keys", tag: .log, summary: "The keys that sign checkpoints",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .json(LogKeysAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listLogKeys)
        try await auditRequest.record(try QueryParameters(call))
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

    static let schema = Schema.object("LogKeys", [.required("keys", .list(.object("LogKey", key)))])

    private static let key: [Property] = [
        .required("vkey", .text("ledger.example/default+c7aed1b8+AbC..."), "C2SP verifier key"),
        .required("added_at", .time),
    ]

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

extension [APIError] {
    /// The errors of a proof.
    fileprivate static let ofProof: [APIError] = [
        .noProof(.nothingSigned), .noProof(.sizeNotSigned(41)),
        .noProof(.notCovered(LogPosition(41), size: 40)), .proofFailed,
    ]
}
