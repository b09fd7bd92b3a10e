import Foundation
import PageAssets
import Testing

@Suite struct PageAssetsTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/CPageAssets")
    private static let folders = ["account", "bundle", "console", "lib", "proof", "texts"]

    @Test func `every file of the pages is embedded as it is`() throws {
        var files: [String: [UInt8]] = [:]
        for folder in Self.folders {
            let path = Self.folder.appendingPathComponent(folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: path.path) {
                files["\(folder)/\(name)"] = Array(
                    try Data(contentsOf: path.appendingPathComponent(name)))
            }
        }
        #expect(files.count > 15)
        #expect(Set(files.keys) == Set(PageAssets.all.keys))
        for (path, bytes) in files { #expect(PageAssets.all[path]?.bytes == bytes, "\(path)") }
    }

    @Test func `files have the types that browsers insist on, and tags of their content`() {
        let types = PageAssets.all.mapValues(\.mediaType)
        #expect(types["account/index.html"] == "text/html; charset=utf-8")
        for (path, type) in types where path.hasSuffix(".mjs") {
            #expect(type == "text/javascript; charset=utf-8", "\(path)")
        }
        #expect(types["account/style.css"] == "text/css; charset=utf-8")
        #expect(Set(PageAssets.all.values.map(\.entityTag)).count == PageAssets.all.count)
    }
}
