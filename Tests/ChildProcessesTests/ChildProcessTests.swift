import ChildProcesses
import Foundation
import Testing

/// The start of programs that tests observe.
struct ChildProcessTests {
    @Test func `a child has three open files, however many its parent has`() throws {
        // Copies, because these stay open in a child by default.
        let open = (0..<50).map { _ in dup(1) }
        #expect(open.allSatisfy { $0 > 2 })
        let (status, text) = try ChildProcess.run("/bin/ls", ["/proc/self/fd"])
        #expect(status == 0)
        // The fourth is the directory that `ls` reads.
        #expect(text.split(separator: "\n") == ["0", "1", "2", "3"])
        for descriptor in open { close(descriptor) }
    }

    @Test func `a child gets its words, its environment and its directory`() throws {
        let (status, text) = try ChildProcess.run(
            "/bin/sh", ["-c", "echo \"$0 $1 $WORD\"; pwd; echo fault >&2; exit 3", "a b", "c"],
            environment: ["WORD": "d e"], directory: "/usr")
        #expect(status == 3)
        #expect(text == "a b c d e\n/usr\nfault\n")
        let bare = Pipe()
        let child = try ChildProcess(
            executable: "/usr/bin/env", arguments: [], environment: ["ONLY": "this"],
            output: .file(bare.fileHandleForWriting.fileDescriptor), errors: .null)
        try bare.fileHandleForWriting.close()
        #expect(try bare.fileHandleForReading.readToEnd() == Data("ONLY=this\n".utf8))
        #expect(child.waitUntilExit() == .exit(0))
        #expect(child.ending == .exit(0))
    }

    @Test func `a child ended by a signal differs from one that exits`() throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [:], output: .null,
            errors: .null)
        #expect(child.ending == nil)
        child.send(SIGTERM)
        #expect(child.waitUntilExit() == .signal(SIGTERM))
        #expect(child.ending?.status == SIGTERM)
    }

    @Test func `a program that is not there is named`() {
        let error = #expect(throws: ChildProcess.CannotStart.self) {
            try ChildProcess(
                executable: "/nowhere/program", arguments: [], environment: [:], output: .null,
                errors: .null)
        }
        #expect(error?.executable == "/nowhere/program")
        #expect(error?.code == ENOENT)
    }
}
