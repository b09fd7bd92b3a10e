import Foundation

/// The programs of the tests, and the checker of accessibility that they use.
enum PageTestFiles {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The path of a program.
    static func story(_ name: String) -> String {
        folder.appendingPathComponent("Browser/\(name).test.mjs").path
    }

    /// The path of a program that needs neither browser nor server.
    static func unit(_ name: String) -> String {
        folder.appendingPathComponent("Units/\(name).test.mjs").path
    }

    /// The path of axe-core, which `tools/test` installs.
    static func axe() throws -> String {
        let environment = folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(".local/axe/lib")
        let versions = try FileManager.default.contentsOfDirectory(atPath: environment.path)
        let paths = versions.map {
            environment.appendingPathComponent(
                "\($0)/site-packages/axe_playwright_python/axe.min.js"
            ).path
        }
        guard let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return path
    }
}
