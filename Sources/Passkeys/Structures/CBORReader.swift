/// The error for malformed CBOR.
struct NotCBOR: Error {}

/// A reader of CBOR that accepts only the encoding of CTAP 2, section 8.
///
/// The library's own parser gets no bytes that this one has refused: lengths beyond the end, indefinite
/// lengths, numbers that are longer than necessary, tags, floating-point numbers, nesting deeper than
/// `depthMax`. The order of a map's keys is left to the library.
struct CBORReader {
    /// The deepest nesting of arrays and maps; CTAP 2 allows 4.
    static let depthMax = 8

    private let bytes: [UInt8]
    private(set) var index: Int
    private var depth = 0

    /// Reads from an index on.
    init(_ bytes: [UInt8], from index: Int = 0) {
        self.bytes = bytes
        self.index = index
    }

    /// Whether everything is read.
    var isAtEnd: Bool { index == bytes.count }

    /// Reads the next item.
    mutating func value() throws(NotCBOR) -> CBORValue {
        let initial = try taken(1)[0]
        let argument = try argument(initial & 0x1F)
        switch initial >> 5 {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(try taken(argument))
        case 3:
            guard let text = String(validating: try taken(argument), as: UTF8.self) else {
                throw NotCBOR()
            }
            return .text(text)
        case 4:
            return try nested(argument) { reader, count throws(NotCBOR) in
                var elements: [CBORValue] = []
                for _ in 0..<count { elements.append(try reader.value()) }
                return .array(elements)
            }
        case 5:
            return try nested(argument) { reader, count throws(NotCBOR) in
                var pairs: [(key: CBORValue, value: CBORValue)] = []
                for _ in 0..<count { pairs.append((try reader.value(), try reader.value())) }
                return .map(pairs)
            }
        case 7:
            switch initial & 0x1F {
            case 20: return .bool(false)
            case 21: return .bool(true)
            case 22: return .null
            default: throw NotCBOR()
            }
        default: throw NotCBOR()
        }
    }

    /// Reads the number of an initial byte, in its shortest form.
    private mutating func argument(_ short: UInt8) throws(NotCBOR) -> UInt64 {
        guard short >= 24 else { return UInt64(short) }
        guard short <= 27 else { throw NotCBOR() }
        let count = 1 << (short - 24)
        let number = try taken(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let isShortest = count == 1 ? number >= 24 : number >> (UInt64(count) * 4) > 0
        guard isShortest else { throw NotCBOR() }
        return number
    }

    /// Reads so many items, each of at least a byte, one level deeper.
    private mutating func nested(
        _ claimed: UInt64,
        _ body: (inout CBORReader, Int) throws(NotCBOR) -> CBORValue
    ) throws(NotCBOR) -> CBORValue {
        guard depth < Self.depthMax, claimed <= UInt64(bytes.count - index) else {
            throw NotCBOR()
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self, Int(claimed))
    }

    private mutating func taken(_ count: UInt64) throws(NotCBOR) -> [UInt8] {
        guard count <= UInt64(bytes.count - index) else { throw NotCBOR() }
        return try taken(Int(count))
    }

    private mutating func taken(_ count: Int) throws(NotCBOR) -> [UInt8] {
        guard count <= bytes.count - index else { throw NotCBOR() }
        defer { index += count }
        return Array(bytes[index..<(index + count)])
    }
}
