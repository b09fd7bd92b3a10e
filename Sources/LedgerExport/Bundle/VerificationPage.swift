internal import Cryptography
internal import Encodings
internal import PageAssets

/// The file `verify.html` of a bundle: a page that verifies the bundle in a browser, offline.
///
/// It has the modules of the console in one script, because a browser loads no module from a disk.
enum VerificationPage {
    /// The modules, each after those that it imports.
    ///
    /// No name of one may be that of another.
    private static let modules = [
        "lib/el.mjs", "proof/bytes.mjs", "proof/rfc6962.mjs", "proof/note.mjs", "proof/entry.mjs",
        "proof/histories.mjs", "proof/bundle-files.mjs", "proof/bundle.mjs", "proof/tar.mjs",
        "bundle/verify.mjs",
    ]

    /// The page, the same in every bundle of a release.
    static let bytes: [UInt8] = {
        let style = text("bundle/verify.css")
        let script = modules.map { joinable(text($0)) }.joined(separator: "\n")
        let policy =
            "default-src 'none'; script-src '\(hash(script))'; style-src '\(hash(style))'; "
            + "form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; "
            + "trusted-types 'none'"
        let page = text("bundle/verify.html").replacing("{policy}", with: policy)
            .replacing("{style}", with: style).replacing("{script}", with: script)
        return Array(page.utf8)
    }()

    private static func text(_ path: String) -> String {
        String(decoding: PageAssets.all[path]?.bytes ?? [], as: UTF8.self)
    }

    /// The value of a policy that permits exactly this text.
    private static func hash(_ text: String) -> String {
        "sha256-" + Base64.encode(SHA256.hash(text))
    }

    /// Returns a module without its imports and exports.
    private static func joinable(_ module: String) -> String {
        var lines: [Substring] = []
        var isImport = false
        for line in module.split(separator: "\n", omittingEmptySubsequences: false) {
            isImport = isImport || line.hasPrefix("import ")
            if !isImport {
                lines.append(line.hasPrefix("export ") ? line.dropFirst("export ".count) : line)
            }
            if line.hasSuffix("\";") { isImport = false }
        }
        return lines.joined(separator: "\n")
    }
}
