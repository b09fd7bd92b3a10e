import ChildProcesses
import Foundation
import Testing

/// Programs that are not ours, or that need nothing but Python and OpenSSL.
enum OtherPrograms {
    /// Lets the program that lies in a bundle verify it, signatures included.
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

    /// Runs a program to its end, which has to be a good one, and gives all that it said.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let local = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        // For Go: Debian's modules lie in a tree of the old kind. Nothing is fetched.
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
