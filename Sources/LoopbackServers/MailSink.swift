import Foundation
import Synchronization

/// A mail server on 127.0.0.1 that keeps what it is sent, and refuses or breaks off on request.
///
/// It speaks the commands of SMTP that clients need (RFC 5321), without TLS.
package final class MailSink: Sendable {
    /// A message that it has taken over.
    package struct Mail: Hashable, Sendable {
        package let sender: String
        package let recipients: [String]
        /// The content with CRLF at the end of each line, without the dots that SMTP adds.
        package let content: String
        /// The user and the password of the session; nil without authentication.
        package let credentials: String?
    }

    /// The answers to come.
    package struct Behaviour: Sendable {
        /// Empty for a server that says nothing.
        package var greeting = "220 sink"
        package var sender = "250 OK"
        package var recipient = "250 OK"
        package var content = "250 OK"
        /// Whether content is answered; the connection stays open in any case.
        package var answersContent = true
        /// Whether the connection ends in the middle of the content.
        package var dropsContent = false
        /// Whether the connection ends after the content, instead of an answer.
        package var dropsAnswer = false
        /// The extensions that its answer to EHLO names, such as `SMTPUTF8`.
        package var extensions: [String] = []
        /// `user` NUL `password`, without which no sender is accepted; nil to require none.
        package var credentials: String?

        /// Creates answers that accept everything.
        package init() {}
    }

    private struct State {
        var mails: [Mail] = []
        var commands: [String] = []
        var behaviour = Behaviour()
        var listener: Int32?
        var connections: Set<Int32> = []
    }

    /// The port that it listens on, also after a restart.
    package let port: UInt16
    private let state: Mutex<State>

    /// Starts to listen.
    ///
    /// - Throws: `LoopbackServer.CannotListen`.
    package init() throws(LoopbackServer.CannotListen) {
        let (listener, port) = try LoopbackServer.listener()
        self.port = port
        state = Mutex(State(listener: listener))
        accept(on: listener)
    }

    deinit {
        stop()
    }

    /// The messages so far.
    package var mails: [Mail] { state.withLock(\.mails) }

    /// The commands of all sessions so far.
    package var commands: [String] { state.withLock(\.commands) }

    /// The number of open connections.
    package var connectionCount: Int { state.withLock(\.connections.count) }

    /// Changes the answers to come.
    package func behave(_ change: (inout Behaviour) -> Void) {
        state.withLock { change(&$0.behaviour) }
    }

    /// Ends all connections, and accepts no others.
    package func stop() {
        state.withLock { state in
            if let listener = state.listener { shutdown(listener, Int32(SHUT_RDWR)) }
            state.listener = nil
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    /// Listens again on the same port.
    ///
    /// - Throws: `LoopbackServer.CannotListen`.
    package func restart() throws(LoopbackServer.CannotListen) {
        let (listener, _) = try LoopbackServer.listener(at: port)
        state.withLock { $0.listener = listener }
        accept(on: listener)
    }

    private func accept(on listener: Int32) {
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = Glibc.accept(listener, nil, nil)
                guard connection >= 0 else { break }
                guard let self else {
                    close(connection)
                    break
                }
                self.state.withLock { _ = $0.connections.insert(connection) }
                Thread.detachNewThread { [weak self] in
                    var session = Session(connection)
                    self?.serve(&session)
                    self?.state.withLock { _ = $0.connections.remove(connection) }
                    close(connection)
                }
            }
            close(listener)
        }
    }

    private func serve(_ session: inout Session) {
        let greeting = state.withLock(\.behaviour.greeting)
        if !greeting.isEmpty { session.answer(greeting) }
        var (sender, recipients, credentials) = ("", [String](), String?.none)
        while let line = session.line() {
            let now = state.withLock { state in
                state.commands.append(line)
                return state.behaviour
            }
            let verb = line.prefix { $0 != " " && $0 != ":" }.uppercased()
            switch verb {
            case "EHLO":
                let lines =
                    ["sink"] + now.extensions + (now.credentials == nil ? [] : ["AUTH PLAIN"])
                for line in lines.dropLast() { session.answer("250-\(line)") }
                session.answer("250 \(lines.last ?? "")")
            case "AUTH":
                var word = line.dropFirst("AUTH PLAIN".count).drop { $0 == " " }
                if word.isEmpty {
                    session.answer("334 ")
                    word = (session.line() ?? "")[...]
                }
                let bytes = Data(base64Encoded: String(word)) ?? Data()
                let given = String(decoding: bytes.dropFirst(), as: UTF8.self)
                if given == now.credentials { credentials = given }
                session.answer(given == now.credentials ? "235 OK" : "535 No")
            case "MAIL" where now.credentials != nil && credentials == nil:
                session.answer("530 Authentication required")
            case "MAIL":
                sender = Self.address(line)
                recipients = []
                session.answer(now.sender)
            case "RCPT":
                recipients.append(Self.address(line))
                session.answer(now.recipient)
            case "DATA":
                session.answer("354 Go on")
                if now.dropsContent {
                    _ = session.line()
                    return
                }
                guard let content = session.content() else { return }
                if now.content.hasPrefix("2") {
                    let mail = Mail(
                        sender: sender, recipients: recipients, content: content,
                        credentials: credentials)
                    state.withLock { $0.mails.append(mail) }
                }
                if now.dropsAnswer { return }
                if now.answersContent { session.answer(now.content) }
            case "QUIT":
                session.answer("221 Bye")
                return
            default: session.answer("250 OK")
            }
        }
    }

    private static func address(_ line: String) -> String {
        let start = line.drop { $0 != "<" }.dropFirst()
        return String(start.prefix { $0 != ">" })
    }

    /// A connection with the bytes that were received and not read yet.
    private struct Session {
        private let connection: Int32
        private var received: [UInt8] = []

        init(_ connection: Int32) {
            self.connection = connection
        }

        func answer(_ text: String) {
            let bytes = Array((text + "\r\n").utf8)
            _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        /// Returns the next line without its end; nil when the connection has ended.
        mutating func line() -> String? {
            while true {
                if let end = received.firstIndex(of: 0x0A) {
                    var line = Array(received[..<end])
                    if line.last == 0x0D { line.removeLast() }
                    received.removeSubrange(...end)
                    return String(decoding: line, as: UTF8.self)
                }
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = unsafe recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                received += buffer.prefix(count)
            }
        }

        /// Returns the content up to the line with a dot; nil when the connection ends before.
        mutating func content() -> String? {
            var content = ""
            while let line = line() {
                if line == "." { return content }
                content += (line.hasPrefix(".") ? String(line.dropFirst()) : line) + "\r\n"
            }
            return nil
        }
    }
}
