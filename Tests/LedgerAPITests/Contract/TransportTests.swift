import Synchronization
import Testing

@Suite(.overBothTransports) struct TransportTests {
    @Test func `a test runs once for each transport`() async throws {
        let used = Mutex<[Bool]>([])
        try await OverBothTransports().provideScope(
            for: try #require(Test.current), testCase: Test.Case.current
        ) {
            let service = try TestService()
            let usesSocket = service.socket != nil
            used.withLock { $0.append(usesSocket) }
            #expect(try await service.send("GET", "/healthz").status == 200)
        }
        #expect(used.withLock { $0 } == [false, true])
    }
}
