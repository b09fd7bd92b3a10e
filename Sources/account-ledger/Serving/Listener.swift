import HTTP
import LedgerAPI

/// A listening server whose handler is given to it later.
struct Listener: Sendable {
    let handler: LateHandler
    /// Where it listens, with the port that it really has.
    let address: String
    private let server: HTTPServer

    /// Binds and listens.
    ///
    /// - Throws: `Fault` that names the setting.
    init(
        _ address: ListenAddress, of setting: Setting, limits: HTTPServerLimits = HTTPServerLimits()
    ) throws(Fault) {
        let handler = LateHandler()
        var limits = limits
        // Handlers that all wait for somebody must not make the process look dead.
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

    /// Stops accepting, answers what was accepted, then closes.
    func stop(grace: Duration) async {
        await server.stop(grace: grace)
    }
}
