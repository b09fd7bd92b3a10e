/// What `GET /healthz` and `GET /readyz` give when all is well.
public struct StatusAnswer: Codable, Hashable, Sendable {
    /// `ok` or `ready`.
    public let status: String

    /// Describes a state.
    public init(status: String) {
        self.status = status
    }
}
