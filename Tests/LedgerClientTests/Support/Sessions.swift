import Foundation
import LedgerClient
import Testing

extension RetryPolicy {
    /// Without chance.
    static let steady = RetryPolicy { 1 }
    /// The same for a server on a busy machine, where a password may take long.
    static let patient = RetryPolicy(attemptTime: .seconds(60)) { 1 }
}

/// An app of a made-up ledger.
@MainActor func app(
    _ transport: TestTransport, store: any TokenStore = InMemoryTokenStore(),
    time: any TimeSource = ManualTime(), gate: (any AccessGate)? = nil
) throws -> AuthSession {
    let address = try LedgerAddress(#require(URL(string: "https://ledger.example")))
    return AuthSession(
        address, store: store, gate: gate, transport: transport, retries: .steady, time: time)
}

/// Expects a refusal, and returns it.
@MainActor func refusal<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: () async throws(LedgerError) -> Value
) async throws -> LedgerError {
    do throws(LedgerError) {
        let value = try await work()
        Issue.record("accepted: \(value)", sourceLocation: sourceLocation)
        throw LedgerError(.unexpectedAnswer, message: "accepted")
    } catch {
        return error
    }
}
