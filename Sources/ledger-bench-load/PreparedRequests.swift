import Foundation

/// Requests as bytes, prepared before the run so that they cost nothing during it.
struct PreparedRequests {
    /// All requests, one after the other.
    let bytes: [UInt8]
    /// The start index of each request, and the end of the last.
    private let starts: [Int]

    var count: Int { starts.count - 1 }

    subscript(index: Int) -> Range<Int> {
        starts[index]..<starts[index + 1]
    }

    /// Reads a file with tab-separated lines of METHOD, PATH, access token and body.
    init(path: String, port: UInt16) throws {
        let file = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var bytes: [UInt8] = []
        var starts = [0]
        for line in file.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            guard fields.count == 4 else {
                throw LoadFailure(description: "a line of \(path) has \(fields.count) fields")
            }
            bytes += fields[0] + [UInt8(ascii: " ")] + fields[1]
            bytes += " HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n".utf8
            if !fields[2].isEmpty {
                bytes += "Authorization: Bearer ".utf8
                bytes += fields[2]
                bytes += "\r\n".utf8
            }
            if !fields[3].isEmpty {
                bytes += "Content-Type: application/json\r\n".utf8
                bytes += "Content-Length: \(fields[3].count)\r\n".utf8
            }
            bytes += "\r\n".utf8
            bytes += fields[3]
            starts.append(bytes.count)
        }
        guard starts.count > 1 else { throw LoadFailure(description: "\(path) is empty") }
        self.bytes = bytes
        self.starts = starts
    }
}
