/// One of the details of an error.
public enum ErrorDetail: Codable, Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A name or another text.
    case text(String)
    /// A number, such as of seconds.
    case number(Int64)
    /// The second factors of an account.
    case factors([FactorAnswer])

    /// Wraps a text.
    public init(stringLiteral value: String) {
        self = .text(value)
    }

    /// Reads a value.
    ///
    /// - Throws: `DecodingError` for any other value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .factors(try container.decode([FactorAnswer].self))
        }
    }

    /// Writes the value itself.
    ///
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .factors(let factors): try container.encode(factors)
        }
    }
}
