/// The body of every answer that is not a success.
public struct ErrorBody: Codable, Hashable, Sendable {
    /// What went wrong.
    public struct Content: Codable, Hashable, Sendable {
        /// What a program decides by.
        public let code: ErrorCode
        /// What a person reads; never holds a secret or personal data.
        public let message: String
        /// Which part of the request is meant, such as `{"field":"id_token"}`.
        public let details: [String: String]?

        /// Describes what went wrong.
        public init(code: ErrorCode, message: String, details: [String: String]? = nil) {
            self.code = code
            self.message = message
            self.details = details
        }
    }

    /// What went wrong.
    public let error: Content

    /// Wraps what went wrong.
    public init(error: Content) {
        self.error = error
    }
}
