import Foundation

/// The sources of this package, as text.
struct SourceTree {
    struct File: CustomStringConvertible {
        /// From the package's root, such as `Sources/Ledger/Ports.swift`.
        let path: String
        let lines: [Substring]

        /// The module, or the test target, that the file belongs to.
        var module: String {
            path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        }

        var description: String { path }
    }

    let files: [File]

    /// Reads every file below these folders of the package whose name ends so.
    init(_ folders: [String], suffix: String = ".swift") throws {
        var files: [File] = []
        for folder in folders {
            let base = Self.root.appendingPathComponent(folder)
            for path in try FileManager.default.subpathsOfDirectory(atPath: base.path)
            where path.hasSuffix(suffix) {
                let path = folder + "/" + path
                files.append(File(path: path, lines: try Self.lines(of: path)))
            }
        }
        self.files = files.sorted { $0.path < $1.path }
    }

    /// Reads any file of the package.
    static func lines(of path: String) throws -> [Substring] {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Whether the package has a file or a folder.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The package's root.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}
