import Foundation
import LedgerTestSupport
import Testing

/// The comparison used by the fault tests detects each kind of difference.
@Suite struct LogComparisonTests {
    @Test func `missing, duplicate and partial events are found`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let names = (0..<2).map { _ in UUID().uuidString.lowercased() }
            for name in names {
                let token = deployment.apple.token(subject: name)
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/apple", ["id_token": token],
                    headers: ["X-Request-Id": name])
                #expect(answer.status == 200)
            }
            let told = TrafficCommand(.signUp, requests: [names[0]], isAcknowledged: true)
            let untold = TrafficCommand(.signUp, requests: [names[0]], isAcknowledged: false)
            let missing = TrafficCommand(.link, requests: ["none"], isAcknowledged: true)
            let undone = TrafficCommand(.link, requests: ["none"], isAcknowledged: false)
            let twice = TrafficCommand(.signUp, requests: names, isAcknowledged: true)
            let part = TrafficCommand(.signUp, requests: [names[0]], isAcknowledged: false)
            let all = try await reckon([told, untold, undone], deployment)
            #expect(all == [0, 0, 0])
            #expect(try await reckon([told, missing], deployment) == [1, 0, 0])
            #expect(try await reckon([twice, told], deployment) == [0, 1, 0])
            #expect(try await reckon([part.expecting("SignedOut")], deployment) == [0, 0, 1])
            try await server.stop()
        }
    }

    private func reckon(
        _ commands: [TrafficCommand], _ deployment: Deployment
    ) async throws -> [Int] {
        let found = try await LogComparison(commands, logAt: deployment.superuserURL)
        return [found.lost, found.doubled, found.halves]
    }
}
