import ChildProcesses
import Foundation
import Testing

/// Third-party programs, and programs that only need Python and OpenSSL.
enum OtherPrograms {
    /// Verifies a bundle with the program in it, signatures included.
    static func verify(_ bundle: String, _ vkey: String) throws -> String {
        try run(
            "/bin/sh",
            [
                "-c",
                "tar xfO \"$0\" verify.py > \"$0.py\" && "
                    + "/usr/bin/python3 -I \"$0.py\" --signatures --vkey \"$1\" \"$0\"",
                bundle, vkey,
            ])
    }

    /// Runs a program, which must succeed, and returns its output.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let local = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        // For Go: Debian's modules are in a GOPATH tree. Nothing is downloaded.
        let (status, text) = try ChildProcess.run(
            program, arguments,
            environment: [
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOPROXY": "off",
                "GOCACHE": local.appendingPathComponent(".local/go-cache").path,
            ])
        #expect(status == 0, "\(text)")
        return text
    }
}
