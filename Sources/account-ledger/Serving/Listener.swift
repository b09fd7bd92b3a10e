import CommandLine
import HTTP
import LedgerAPI

/// A listening server whose handlers are set later.
struct Listener: Sendable {
    let handler: DeferredHandler
    /// The listening address, with the actual port.
    let address: String
    private let server: HTTPServer

    /// Binds and listens.
    ///
    /// - Throws: `Fault` that names the setting.
    init(
        _ address: ListenAddress, of setting: Setting, limits: HTTPServerLimits = HTTPServerLimits()
    ) throws(Fault) {
        let handler = DeferredHandler()
        var limits = limits
        // Health checks are answered even when all handlers are waiting.
        limits.alwaysAdmittedPaths = API.healthPaths
        do throws(HTTPServerError) {
            server = try HTTPServer(
                host: address.host, port: address.port, limits: limits,
                reject: { handler.reject($0, $1) }, handler: { await handler.answer($0) })
        } catch {
            throw Fault("\(setting.name): \(error)")
        }
        self.handler = handler
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        self.address = "\(host):\(server.port)"
    }

    /// Stops accepting, answers the accepted requests, then closes.
    func stop(grace: Duration) async {
        await server.stop(grace: grace)
    }
}
