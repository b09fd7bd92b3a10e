/// The answer of `GET /healthz` and `GET /readyz` on success.
public struct StatusAnswer: Codable, Hashable, Sendable {
    /// `ok` or `ready`.
    public let status: String

    /// Describes a status.
    public init(status: String) {
        self.status = status
    }
}
