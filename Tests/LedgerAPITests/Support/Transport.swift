import Testing

/// The way from a test to the API.
enum Transport: CaseIterable {
    /// Calls `API.handle`.
    case call
    /// Sends HTTP/1.1 to a server on the loopback interface.
    case socket

    /// The transport of services that the current test starts.
    @TaskLocal static var current = Transport.call
}

/// Runs each test once for each transport.
struct OverBothTransports: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for transport in Transport.allCases {
            try await Transport.$current.withValue(transport, operation: body)
        }
    }
}

extension Trait where Self == OverBothTransports {
    /// Runs each test once for each transport.
    static var overBothTransports: Self { Self() }
}
