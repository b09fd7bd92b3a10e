internal import Foundation

/// The steps of a person in a ``Traffic``: every step waits for the acknowledgement of the previous one.
struct TrafficPerson {
    private let traffic: Traffic
    private let number: Int
    private let subject: String

    init(_ traffic: Traffic, number: Int, subject: String) {
        self.traffic = traffic
        self.number = number
        self.subject = subject
    }

    func live(on target: WireClient) async {
        guard
            let session = await execute(
                .signUp, "POST", "/v1/auth/sign-in/apple",
                ["id_token": traffic.token(traffic.apple, subject)], on: target),
            let accessToken = session.text("access_token"),
            let refreshToken = session.text("refresh_token"),
            let userID = session.text("user_id"),
            await execute(
                .link, "POST", "/v1/auth/link/google",
                ["id_token": traffic.token(traffic.google, subject)], on: target,
                token: accessToken, isKeyed: number.isMultiple(of: 2)) != nil
        else { return }
        await readBack(accessToken, on: target)
        guard let fresh = await refresh(refreshToken, on: target) else { return }
        switch number % 4 {
        case 0:
            _ = await execute(
                .unlink, "DELETE", "/v1/auth/link/google", on: target, token: accessToken,
                isKeyed: number.isMultiple(of: 8))
        case 1:
            _ = await execute(
                .signOut, "POST", "/v1/auth/sign-out", [:], on: target, token: accessToken)
        default:
            traffic.add(
                Traffic.OpenSession(
                    target: target, subject: subject, userID: userID, refreshToken: fresh))
        }
    }

    /// Sends a command, repeatedly if it has a key, and records the answers.
    private func execute(
        _ kind: TrafficCommand.Kind, _ method: String, _ path: String,
        _ members: [String: any Sendable]? = nil, on target: WireClient, token: String? = nil,
        isKeyed: Bool = false
    ) async -> WireClient.Answer? {
        var command = TrafficCommand(kind)
        defer { traffic.add(command) }
        let key = isKeyed ? UUID().uuidString : nil
        for _ in 0..<(isKeyed ? Traffic.triesMax : 1) {
            let request = UUID().uuidString.lowercased()
            command.requests.append(request)
            let answer = await traffic.send(
                method, path, members, on: target, token: token, key: key, request: request)
            if let answer, answer.status == 200 {
                command.isAcknowledged = true
                return answer
            }
            guard answer == nil || answer?.status == 503, !traffic.isStopping else { break }
        }
        return nil
    }

    /// Reads the account after an acknowledged link.
    private func readBack(_ accessToken: String, on target: WireClient) async {
        let answer = await traffic.send(
            "GET", "/v1/account", on: target, token: accessToken, request: UUID().uuidString)
        guard let answer, answer.status == 200 else { return }
        let providers = answer.texts("linked_providers") ?? []
        if providers != ["apple", "google"] {
            traffic.surprise("a read missed a link: \(providers)")
        }
    }

    /// Exchanges a refresh token; nil when the outcome is unknown.
    private func refresh(_ token: String, on target: WireClient) async -> String? {
        let answer = await traffic.send(
            "POST", "/v1/auth/refresh", ["refresh_token": token], on: target,
            request: UUID().uuidString)
        return answer?.text("refresh_token")
    }
}
