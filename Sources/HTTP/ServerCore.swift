import CMicroHTTPD

/// The state shared by the callbacks of the daemons.
final class ServerCore: Sendable {
    let limits: HTTPServerLimits
    let slots: ExchangeSlots
    let connections: ConnectionRegistry
    let bodies: BodyBudget
    let lingering: LingeringSockets
    private let refusals: DelayedRefusals
    private let reject: @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse
    private let handler: @Sendable (HTTPRequest) async -> HTTPResponse

    init(
        limits: HTTPServerLimits,
        reject: @escaping @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.limits = limits
        connections = ConnectionRegistry(countMax: limits.connectionsMax)
        bodies = BodyBudget(bytesMax: limits.largeBodiesBytesMax)
        lingering = LingeringSockets(timeMax: limits.lingerTimeMax)
        refusals = DelayedRefusals(delay: limits.refusalDelay)
        self.reject = reject
        self.handler = handler
        // An exchange has its own connection, so the reserve never runs out.
        slots = ExchangeSlots(
            count: limits.requestsInFlightMax,
            reserve: limits.usesReserve ? limits.connectionsMax : 0)
    }

    /// Checks the header section before the body is read.
    func begin(_ exchange: Exchange, _ message: IncomingMessage) -> MHD_Result {
        exchange.method = message.method
        exchange.headers = message.readHeaders()
        do throws(HTTPRejection) {
            if let refusal = exchange.connection.gate.refusal { throw refusal }
            let framing = try RequestFraming(
                of: exchange.headers, isHTTP11: message.isHTTP11, limits: limits)
            guard let parts = RequestTarget(exchange.target) else { throw .malformed }
            exchange.parts = parts
            exchange.bodyBytesMax = framing.contentLength
            if framing.contentLength > 0 { exchange.isCounted = slots.beginReceiving() }
        } catch {
            // The end of the request is unknown or far away, so the connection is closed.
            exchange.connection.mayHaveUnreadBytes = true
            return refuse(exchange, error, on: message, closing: true)
        }
        exchange.stage = .receivingBody
        return .YES
    }

    /// Receives a chunk of the body; a body beyond the budget is dropped, and refused at its end.
    func receiveBody(_ exchange: Exchange, _ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        if exchange.isOverBudget { return .YES }
        if reserveBytes(for: exchange.body.count + bytes.count, in: exchange) {
            unsafe exchange.body.append(contentsOf: bytes)
        } else {
            exchange.isOverBudget = true
            dropBody(of: exchange)
        }
        return .YES
    }

    /// Grows the body's reservation with the received bytes, not the announced ones; false beyond the
    /// budget.
    private func reserveBytes(for count: Int, in exchange: Exchange) -> Bool {
        guard count > exchange.body.capacity else { return true }
        let capacity = max(count, min(2 * exchange.body.capacity, exchange.bodyBytesMax))
        if capacity > limits.smallBodyBytesMax {
            guard bodies.reserve(capacity - exchange.budgetedBytes) else { return false }
            exchange.budgetedBytes = capacity
        }
        exchange.body.reserveCapacity(capacity)
        return true
    }

    private func dropBody(of exchange: Exchange) {
        exchange.body = []
        releaseBody(exchange)
    }

    private func releaseBody(_ exchange: Exchange) {
        guard exchange.budgetedBytes > 0 else { return }
        bodies.release(exchange.budgetedBytes)
        exchange.budgetedBytes = 0
    }

    /// Releases the resources of an exchange when its response is sent or its connection is closed.
    func end(_ exchange: Exchange) {
        exchange.endStream()
        exchange.detach()
        releaseBody(exchange)
        if exchange.isCounted { slots.endReceiving() }
        if let slot = exchange.slot { slots.leave(slot) }
    }

    /// Passes a completely received request to the handler.
    func dispatch(_ exchange: Exchange, _ message: IncomingMessage) -> MHD_Result {
        if exchange.isOverBudget { return refuseAfterDelay(exchange, on: message) }
        guard let request = exchange.takeRequest() else {
            return refuse(exchange, .malformed, on: message, closing: true)
        }
        switch slots.admit(exchange, always: limits.alwaysAdmittedPaths.contains(request.path)) {
        case .admitted(let slot): exchange.slot = slot
        case .full: return refuseAfterDelay(exchange, on: message)
        case .stopped: return refuse(exchange, .overloaded, on: message, closing: true)
        }
        exchange.connection.expectProgress(until: .never)
        exchange.stage = .handling
        let task = Task.immediate(executorPreference: exchange) { [handler] in
            exchange.finish(await handler(request))
        }
        exchange.expectAnswer(of: task)
        return proceed(exchange, message)
    }

    /// Refuses a request beyond the capacity, after the refusal delay.
    ///
    /// It waits in a reserve slot, so that a stop finds it.
    private func refuseAfterDelay(_ exchange: Exchange, on message: IncomingMessage) -> MHD_Result {
        // The body is not needed, and there may be as many of these as connections.
        dropBody(of: exchange)
        guard limits.refusalDelay > .zero,
            case .admitted(let slot) = slots.admit(exchange, always: true)
        else { return refuse(exchange, .overloaded, on: message) }
        exchange.slot = slot
        exchange.connection.expectProgress(until: .never)
        exchange.stage = .handling
        refusals.add(exchange) { [self] in abandon($0) }
        return proceed(exchange, message)
    }

    /// Continues the handler's task, and sends the response when it exists.
    func proceed(_ exchange: Exchange, _ message: IncomingMessage) -> MHD_Result {
        guard exchange.proceed() else { return .YES }
        guard let response = exchange.takeResponse() else { return .NO }
        return answer(exchange, response, on: message)
    }

    /// Answers in the handler's place when the server stops or lacks capacity.
    func abandon(_ exchange: Exchange) {
        exchange.abandon(with: reject(.overloaded, exchange.headers))
    }

    private func refuse(
        _ exchange: Exchange, _ rejection: HTTPRejection, on message: IncomingMessage,
        closing: Bool = false
    ) -> MHD_Result {
        answer(exchange, reject(rejection, exchange.headers), on: message, closing: closing)
    }

    private func answer(
        _ exchange: Exchange, _ response: HTTPResponse, on message: IncomingMessage,
        closing: Bool = false
    ) -> MHD_Result {
        exchange.stage = .answered
        // A client may take a minute to read, and the handler no longer needs the body.
        releaseBody(exchange)
        exchange.connection.expectProgress(until: .now + limits.responseSendTimeMax)
        let sendable = response.isSendable ? response : reject(.internalFailure, exchange.headers)
        guard sendable.isSendable else { return .NO }
        let stream = sendable.stream.map { make in
            unsafe HTTPStream(
                handle: message.handle, connection: exchange.connection,
                sendTimeMax: limits.responseSendTimeMax, mayEndEarly: sendable.mayEndEarly,
                make: make)
        }
        if let stream { exchange.expectEnd(of: stream) } else { exchange.beginSending() }
        // A stop in progress ends the streams that it finds, but may have missed this one.
        if slots.isDraining { stream?.stop() }
        return unsafe sendable.queue(
            on: message.handle, closing: closing || slots.isDraining, streaming: stream)
    }
}
