/// A strict scanner of a connection's requests, which runs before libmicrohttpd.
///
/// A reverse proxy and this server must agree on where a request ends, or a client can smuggle a
/// request past the proxy, RFC 9112 section 11.2. libmicrohttpd is lenient, and answers by itself what it
/// can't parse. So only strictly well-formed heads pass; from the first invalid byte on, the rest is
/// replaced by the shortest end that completes the head, and the request is refused. Later bytes are
/// dropped.
package struct RequestScanner {
    /// The state of the scanner: the element that contains the next byte.
    private enum State {
        case beforeRequest, emptyLineEnd, method, target, version, fieldStart, name, value, length
        case lineEnd, sectionEnd, body
    }

    /// The most digits of a length; more would exceed any limit, and this many fit into an `Int`.
    private static let lengthDigitsMax = 18
    private static let usualVersion = Array("HTTP/1.1\r\n\r\n".utf8)

    /// The number of complete heads, including the refused one.
    package private(set) var headCount = 0
    /// The reason to refuse the last head and everything after it; nil so far.
    package private(set) var refusal: HTTPRejection?
    /// The part of the refused head's end that did not fit into the buffer.
    private var rest: ArraySlice<UInt8> = []
    private let headBytesMax: Int
    private let headMemoryBytes: Int
    private let fieldsMax: Int
    private var state = State.beforeRequest
    private var head = Head()
    private var bodyRest = 0

    /// The state of the current head.
    private struct Head {
        var bytes = 0
        var pairs = 0
        var fields = 0
        /// The number of bytes read of the version, of a name or of a length.
        var count = 0
        var name = FieldName()
        var length: Int?

        /// The memory that libmicrohttpd needs for the head.
        var cost: Int { bytes + HTTPServerLimits.fieldMemoryBytes * (pairs + fields) }
    }

    /// Starts before the first byte of a connection.
    package init(limits: HTTPServerLimits) {
        headBytesMax = limits.headerBytesMax
        headMemoryBytes = limits.headMemoryBytes
        fieldsMax = limits.headerCountMax
    }

    /// Scans received bytes and returns those that pass, for tests and for bytes without a socket.
    package mutating func pass(_ bytes: [UInt8]) -> [UInt8] {
        guard refusal == nil else { return [] }
        var buffer = bytes
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pass($0, count: $0.count) }
        defer { rest = [] }
        return Array(buffer[..<count]) + rest
    }

    /// The name, in lower case, that `Cookie` gets.
    static let renamedCookies = Array("cooki-".utf8)

    /// Scans received bytes at the start of a buffer and returns the number that pass.
    mutating func pass(_ buffer: UnsafeMutableRawBufferPointer, count: Int) -> Int {
        var index = 0
        while index < count {
            if state == .body {
                let step = min(bodyRest, count - index)
                bodyRest -= step
                index += step
                if bodyRest == 0 { state = .beforeRequest }
                continue
            }
            if state == .value {
                let step = unsafe textCount(UnsafeRawBufferPointer(rebasing: buffer[index..<count]))
                head.bytes += step
                index += step
                if index == count { break }
            }
            // libmicrohttpd's memory also holds the bytes received after the head.
            let fits = state != .sectionEnd || head.cost + count - index <= headMemoryBytes
            if let rejection = fits ? unsafe read(buffer[index]) : .headersTooLarge {
                refuse(rejection)
                return unsafe index
                    + copyRest(into: UnsafeMutableRawBufferPointer(rebasing: buffer[index...]))
            }
            if state == .name, head.name.isOfCookies {
                // libmicrohttpd would parse cookies, which costs memory and is not needed.
                unsafe buffer[index] = Self.renamedCookies[5]
            }
            index += 1
        }
        return count
    }

    /// Returns the number of following bytes of a field value: the fast path, as values are most of a head.
    private func textCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        let countMax = min(
            bytes.count, headBytesMax - head.bytes, headMemoryBytes - head.cost)
        var count = 0
        while count < countMax, ASCII.isFieldText(unsafe bytes[count]) { count += 1 }
        return count
    }

    /// Copies the remaining end of a refused head into a buffer and returns the number of bytes.
    mutating func copyRest(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let part = rest.prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        return part.count
    }

    private mutating func refuse(_ rejection: HTTPRejection) {
        rest = wholeEnd[...]
        refusal = rejection
        headCount += 1
    }

    /// The shortest end that completes the passed part of the head.
    private var wholeEnd: [UInt8] {
        switch state {
        case .beforeRequest: Array("X / HTTP/1.1\r\n\r\n".utf8)
        case .emptyLineEnd: Array("\nX / HTTP/1.1\r\n\r\n".utf8)
        case .method: Array(" / HTTP/1.1\r\n\r\n".utf8)
        case .target: Array("\(head.count == 0 ? "/" : "") HTTP/1.1\r\n\r\n".utf8)
        case .version: Array(Self.usualVersion[head.count...])
        case .fieldStart: Array("\r\n".utf8)
        // With another letter, the name has no meaning.
        case .name: Array("X:\r\n\r\n".utf8)
        case .value: Array("\r\n\r\n".utf8)
        case .length: Array("\(head.count == 0 ? "0" : "")\r\n\r\n".utf8)
        case .lineEnd: Array("\n\r\n".utf8)
        case .sectionEnd: Array("\n".utf8)
        case .body: []
        }
    }

    /// Reads a byte of a head; returns the reason to refuse it, if any.
    private mutating func read(_ byte: UInt8) -> HTTPRejection? {
        head.bytes += 1
        guard head.bytes <= headBytesMax, head.cost <= headMemoryBytes else {
            return .headersTooLarge
        }
        switch state {
        case .beforeRequest, .emptyLineEnd, .method, .target, .version: return readLine(byte)
        case .fieldStart, .name: return readName(byte)
        case .length: return readLength(byte)
        // `textCount` has skipped the text.
        case .value: return expect(ASCII.carriageReturn, byte, .lineEnd)
        case .lineEnd: return expect(ASCII.lineFeed, byte, .fieldStart)
        case .sectionEnd:
            guard byte == ASCII.lineFeed else { return .malformed }
            endHead()
        case .body: break
        }
        return nil
    }

    private mutating func readLine(_ byte: UInt8) -> HTTPRejection? {
        switch state {
        case .beforeRequest where byte == ASCII.carriageReturn: state = .emptyLineEnd
        case .emptyLineEnd: return expect(ASCII.lineFeed, byte, .beforeRequest)
        case .method where byte == ASCII.space: move(to: .target)
        case .beforeRequest, .method:
            guard ASCII.isTokenCharacter(byte) else { return .malformed }
            state = .method
        case .target where byte == ASCII.space && head.count > 0: move(to: .version)
        case .target:
            guard byte > ASCII.space, byte < ASCII.delete else { return .malformed }
            head.count += 1
            if byte == ASCII.question || byte == ASCII.ampersand { head.pairs += 1 }
            guard head.pairs <= RequestTarget.queryPairsMax else { return .malformed }
        default: return readVersion(byte)
        }
        return nil
    }

    /// Reads `HTTP/1.`, a digit and the end of the line; higher minor versions are read as 1.1.
    private mutating func readVersion(_ byte: UInt8) -> HTTPRejection? {
        let isMinor = head.count == 7 && byte >= ASCII.zero && byte <= ASCII.nine
        guard isMinor || byte == Self.usualVersion[head.count] else { return .malformed }
        head.count += 1
        if byte == ASCII.lineFeed { state = .fieldStart }
        return nil
    }

    private mutating func readName(_ byte: UInt8) -> HTTPRejection? {
        if state == .fieldStart {
            if byte == ASCII.carriageReturn {
                state = .sectionEnd
                return nil
            }
            head.name = FieldName()
            head.fields += 1
            guard head.fields <= fieldsMax else { return .headersTooLarge }
        } else if byte == ASCII.colon {
            guard head.name.isOfLength else {
                state = .value
                return nil
            }
            guard head.length == nil else { return .malformed }
            move(to: .length)
            return nil
        }
        guard ASCII.isTokenCharacter(byte) else { return .malformed }
        state = .name
        head.name.append(byte)
        return nil
    }

    /// Reads white space, digits and the end of the line: libmicrohttpd accepts nothing else, not even
    /// trailing white space.
    private mutating func readLength(_ byte: UInt8) -> HTTPRejection? {
        switch byte {
        case ASCII.space, ASCII.tab:
            guard head.count == 0 else { return .malformed }
        case ASCII.zero...ASCII.nine:
            guard head.count < Self.lengthDigitsMax else { return .bodyTooLarge }
            head.count += 1
            head.length = 10 * (head.length ?? 0) + Int(byte - ASCII.zero)
        default:
            guard head.count > 0 else { return .malformed }
            return expect(ASCII.carriageReturn, byte, .lineEnd)
        }
        return nil
    }

    private mutating func expect(
        _ expected: UInt8, _ byte: UInt8, _ next: State
    ) -> HTTPRejection? {
        guard byte == expected else { return .malformed }
        state = next
        return nil
    }

    private mutating func move(to next: State) {
        state = next
        head.count = 0
    }

    private mutating func endHead() {
        headCount += 1
        bodyRest = head.length ?? 0
        state = bodyRest > 0 ? .body : .beforeRequest
        head = Head()
    }
}

/// The end of a field name, enough to recognize two names.
private struct FieldName {
    /// The last 16 bytes, in lower case.
    private var bits: UInt128 = 0
    private var count = 0

    mutating func append(_ byte: UInt8) {
        bits = bits << 8 | UInt128(ASCII.lowercased(byte))
        count += 1
    }

    /// Whether the name is `Content-Length`.
    var isOfLength: Bool { count == 14 && bits == 0x636F_6E74_656E_742D_6C65_6E67_7468 }

    /// Whether the name is `Cookie`.
    var isOfCookies: Bool { count == 6 && bits == 0x636F_6F6B_6965 }
}
