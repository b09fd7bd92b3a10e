import ChildProcesses
import Foundation

/// A proxy in front of a server, configured to pass on as much as possible.
struct LenientProxy {
    enum Kind: String, CaseIterable {
        case nginx, haproxy
    }

    let port: UInt16
    private let kind: Kind
    private let process: ChildProcess
    private let directory: URL

    /// Starts a proxy in front of a port, and waits until it accepts connections.
    init(_ kind: Kind, before backend: UInt16) async throws {
        self.kind = kind
        directory = FileManager.default.temporaryDirectory.appending(
            path: "\(kind)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        port = try Self.freePort()
        let path = directory.path(percentEncoded: false)
        let text =
            switch kind {
            case .nginx: Self.nginx(path, port, backend)
            case .haproxy: Self.haproxy(port, backend)
            }
        let settings = path + "/proxy.conf"
        try Data(text.utf8).write(to: URL(filePath: settings))
        let log = unsafe open(path + "/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(log) }
        process = try ChildProcess(
            executable: "/usr/sbin/\(kind)",
            arguments: kind == .nginx
                ? ["-e", path + "/errors", "-c", settings] : ["-db", "-f", settings],
            environment: [:], directory: path, output: .file(log), errors: .null)
        while (try? await RawClient(port: port)) == nil {
            guard process.ending == nil else {
                throw RawClient.Failure.closed(waitingFor: "\(kind)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Stops it and returns the requests that it passed on, each with method and target.
    ///
    /// HAProxy logs a request at its end, so it must be asked to finish those that it has.
    func stop() throws -> [String] {
        process.send(kind == .haproxy ? SIGUSR1 : SIGTERM)
        _ = process.waitUntilExit()
        defer { try? FileManager.default.removeItem(at: directory) }
        let log = try String(contentsOf: directory.appending(path: "log"), encoding: .isoLatin1)
        return log.split(separator: "\n").filter { $0.hasPrefix("passed ") }.map(String.init)
    }

    private static func nginx(_ directory: String, _ port: UInt16, _ backend: UInt16) -> String {
        """
        daemon off; master_process off; pid \(directory)/pid;
        events {}
        http {
            map $upstream_addr $verdict { "" kept; default passed; }
            log_format short '$verdict $request';
            access_log \(directory)/log short;
            client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/f; uwsgi_temp_path \(directory)/u; scgi_temp_path \(directory)/s;
            client_header_timeout 5s; client_body_timeout 5s; keepalive_timeout 1s;
            client_header_buffer_size 64k; large_client_header_buffers 8 64k;
            client_max_body_size 0; ignore_invalid_headers off; merge_slashes off;
            upstream ledger { server 127.0.0.1:\(backend); keepalive 4; }
            server {
                listen 127.0.0.1:\(port);
                location / {
                    proxy_pass http://ledger; proxy_http_version 1.1; proxy_set_header Connection "";
                    proxy_request_buffering off; proxy_next_upstream off;
                }
            }
        }
        """
    }

    private static func haproxy(_ port: UInt16, _ backend: UInt16) -> String {
        """
        global
            log stdout format raw daemon
            # Of two threads that log at the same time, one drops its line.
            nbthread 1
            hard-stop-after 30s
            tune.bufsize 65536
        defaults
            mode http
            log global
            log-format "%[var(txn.verdict)] %r"
            option accept-invalid-http-request
            option accept-invalid-http-response
            timeout connect 5s
            timeout client 5s
            timeout server 30s
            timeout http-request 5s
            retries 0
        frontend in
            bind 127.0.0.1:\(port)
            http-request set-var(txn.verdict) str(passed)
            default_backend ledger
        backend ledger
            http-reuse always
            server ledger 127.0.0.1:\(backend)

        """
    }

    /// Returns a port without a listener.
    private static func freePort() throws -> UInt16 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) | getsockname(listener, pointer, &length)
            }
        }
        guard code == 0 else { throw RawClient.Failure.closed(waitingFor: "a port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
