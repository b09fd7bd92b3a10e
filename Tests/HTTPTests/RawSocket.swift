import Glibc

/// A blocking socket and the bytes read from it in advance.
// Protected by the serial queue of its `RawClient`, on which all of its calls run.
final class RawSocket: @unchecked Sendable {
    private let descriptor: Int32
    private var isOpen = true
    private var buffer: [UInt8] = []

    init(port: UInt16, waitSecondsMax: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw RawClient.Failure.system(call: "socket", code: errno) }
        var wait = timeval(tv_sec: waitSecondsMax, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            throw RawClient.Failure.system(call: "connect", code: errno)
        }
    }

    deinit { close(abort: false) }

    func close(abort: Bool) {
        guard isOpen else { return }
        isOpen = false
        if abort {
            var now = linger(l_onoff: 1, l_linger: 0)
            let size = socklen_t(MemoryLayout<linger>.size)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, size)
        }
        Glibc.close(descriptor)
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw RawClient.Failure.system(call: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    func readResponse(_ what: String, toHead: Bool) throws -> RawResponse {
        let end = Array("\r\n\r\n".utf8)
        while buffer.firstRange(of: end) == nil { try fill(what) }
        guard let range = buffer.firstRange(of: end) else {
            throw RawClient.Failure.closed(waitingFor: what)
        }
        let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<range.upperBound)
        let lines = head.split(separator: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(parts[0]),
                value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            )
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap {
            Int($0.value)
        }
        let count = toHead || status < 200 ? 0 : length ?? 0
        while buffer.count < count { try fill(what) }
        let body = Array(buffer.prefix(count))
        buffer.removeFirst(count)
        return RawResponse(status: status, fields: fields, body: body)
    }

    /// Reads up to a text, and returns the bytes before it.
    func read(until mark: String, _ what: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = buffer.firstRange(of: mark) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            try fill(what)
        }
    }

    func readToEnd(_ what: String) throws -> [UInt8] {
        do {
            while true { try fill(what) }
        } catch RawClient.Failure.closed {
            return buffer
        }
    }

    private func fill(_ what: String) throws {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe chunk.withUnsafeMutableBytes { bytes in
            unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
        }
        switch (count, errno) {
        case (1..., _): buffer.append(contentsOf: chunk.prefix(count))
        case (0, _), (_, ECONNRESET): throw RawClient.Failure.closed(waitingFor: what)
        case (_, EAGAIN): throw RawClient.Failure.timedOut(waitingFor: what)
        case (_, let code): throw RawClient.Failure.system(call: "recv", code: code)
        }
    }
}
