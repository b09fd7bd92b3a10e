internal import HTTP
import JSON
internal import Ledger
internal import LedgerWire

/// `GET /v1/events/{event_id}`: one event, with the proof that the signed log contains it.
struct EventRoute: Route {
    static let method = "GET"
    static let path = "/v1/events/{event_id}"
    static let operation = Operation(
        id: "get_event", tag: .log, summary: "One event, with the proof that the log contains it",
        access: .principal(.readers), parameters: [.disclose, ReasonHeader.parameter],
        answers: .json(EventAnswer.schema),
        refusals: [.forbidden, .eventNotFound, .proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let id = call.captures["event_id"].flatMap { EventID($0) }
        let auditRequest = try await call.auditRequest(.readEvent, event: id)
        let parameters = try QueryParameters(call)
        // A malformed id names no event.
        guard let id else { throw .eventNotFound }
        let isDisclosing = try await auditRequest.isDisclosing(parameters)
        try await auditRequest.record(parameters, isDisclosed: isDisclosing)
        let audit = call.services.audit
        let found: ShownEvent?
        do {
            found = try await audit.events.event(
                id, in: call.tenant, isDisclosing: isDisclosing)
        } catch {
            throw .eventsNotRead(error)
        }
        guard let found else { throw .eventNotFound }
        let proof = try await Self.proof(of: found, from: audit.proofs, in: call.tenant)
        return .json(EventAnswer(event: found, proof: proof))
    }

    /// Returns the proof against the latest signed checkpoint, or the reason for its absence; a failed proof
    /// does not hide the event.
    private static func proof(
        of event: ShownEvent, from proofs: any ProofReader, in tenant: TenantID
    ) async throws(APIError) -> Result<ProvedInclusion, APIError> {
        let result: Result<ProvedInclusion, ProofRefusal>
        do {
            result = try await proofs.inclusion(of: event.position, in: tenant, size: nil)
        } catch .internalFailure {
            return .failure(.proofFailed)
        } catch {
            throw .faulted(error)
        }
        switch result {
        case .success(let proof): return .success(proof)
        case .failure(let refusal): return .failure(.noProof(refusal))
        }
    }
}

/// One event and its proof.
struct EventAnswer: JSONWritable {
    let event: ShownEvent
    let proof: Result<ProvedInclusion, APIError>

    static let schema = Schema.object(
        "EventWithProof",
        ShownEvent.properties,
        [
            .required("proof", ProvedInclusion.schema.orNull),
            .optional("no_proof", .text("NOT_SEALED_YET"), "Why there is no proof"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            event.writeMembers(to: &writer)
            writer.name("proof")
            switch proof {
            case .success(let proof): proof.write(to: &writer)
            case .failure(let reason):
                writer.null()
                writer.member("no_proof", ErrorAnswer(reason).code.rawValue)
            }
        }
    }
}
