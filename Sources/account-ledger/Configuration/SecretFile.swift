import CommandLine
import Foundation

/// The files that hold one secret.
enum SecretFile {
    private static let bytesMax = 4_096

    /// Returns the content of a file without the line break at its end.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: The name of the setting for a fault, which quotes nothing of the file.
    /// - Returns: The secret.
    /// - Throws: `Fault` unless the file holds one line.
    static func text(path: String, of name: String) throws(Fault) -> String {
        guard let data = FileManager.default.contents(atPath: path), data.count <= bytesMax,
            var text = String(data: data, encoding: .utf8)
        else { throw Fault("\(name): can't read the file") }
        while let last = text.unicodeScalars.last, last == "\n" || last == "\r" {
            text.unicodeScalars.removeLast()
        }
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw Fault("\(name): the file must hold one line")
        }
        return text
    }
}
