/// The body of every error response.
public struct ErrorBody: Codable, Hashable, Sendable {
    /// The description of an error.
    public struct Content: Codable, Hashable, Sendable {
        /// The code that programs act on.
        public let code: ErrorCode
        /// The text for people; never holds a secret or personal data.
        public let message: String
        /// The part of the request that is wrong, such as `{"field":"id_token"}`, or the next step.
        public let details: [String: ErrorDetail]?

        /// Describes an error.
        public init(code: ErrorCode, message: String, details: [String: ErrorDetail]? = nil) {
            self.code = code
            self.message = message
            self.details = details
        }
    }

    /// The error.
    public let error: Content

    /// Wraps an error.
    public init(error: Content) {
        self.error = error
    }
}
