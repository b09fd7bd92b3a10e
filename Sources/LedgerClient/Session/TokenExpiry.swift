/// The time at which an access token expires, by the clock that cannot be set.
struct TokenExpiry: Sendable {
    let token: String
    let monotonic: Duration
}

extension TokenExpiry: CustomStringConvertible, CustomReflectable {
    /// A text without the token.
    var description: String { "the expiry of a token" }

    /// A mirror without children.
    var customMirror: Mirror { Mirror(self, children: []) }
}
