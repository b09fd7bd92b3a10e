/// One of the details of an error.
public enum ErrorDetail: Codable, Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A name or another text.
    case text(String)
    /// A number, such as of seconds.
    case number(Int64)
    /// Several texts, such as ids; never empty.
    case texts([String])
    /// The second factors of an account.
    case factors([FactorAnswer])
    /// A value that this release does not know.
    case unknown

    /// Wraps a text.
    public init(stringLiteral value: String) {
        self = .text(value)
    }

    /// Reads a value; any other one is ``unknown``, so that a client reads the error of a later release.
    ///
    /// - Throws: Nothing for a value inside a document.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let texts = try? container.decode([String].self), !texts.isEmpty {
            self = .texts(texts)
        } else {
            self = (try? container.decode([FactorAnswer].self)).map { .factors($0) } ?? .unknown
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
        case .texts(let texts): try container.encode(texts)
        case .factors(let factors): try container.encode(factors)
        case .unknown: try container.encodeNil()
        }
    }
}
