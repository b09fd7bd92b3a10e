import Ledger
import StandardWebhooks

@testable import LedgerEngine

extension SimulatedProcess {
    /// Leases endpoints and delivers to them until the simulation is over.
    func dispatch(_ world: World) async {
        let store = MemoryDispatcherStore(process: self, world: world)
        while !world.isOver {
            do {
                for endpoint in try await store.takeLeases() {
                    Task(executorPreference: lane) { [self] in
                        await deliver(to: endpoint, store, world)
                    }
                }
            } catch {
                world.report("endpoints cannot be read: \(error)")
            }
            await world.scheduler.sleep(microseconds: 500_000)
        }
    }

    /// Delivers to one endpoint until another process has its lease.
    private func deliver(
        to endpoint: LeasedWebhook, _ store: MemoryDispatcherStore, _ world: World
    ) async {
        let delivery = EndpointDelivery(
            endpoint: endpoint, store: store, configuration: configuration(in: world),
            signal: WakeSignal(), counts: WebhookCounts(),
            onFault: { [weak world] line in world?.report(line) })
        do {
            var state = try await delivery.load()
            while !world.isOver {
                do {
                    guard try await delivery.step(&state) else { break }
                } catch let fault as DispatcherFault {
                    throw fault
                } catch {
                    world.report("deliveries cannot be written: \(error)")
                }
                await world.scheduler.sleep(microseconds: state.hasMore ? 0 : 50_000)
            }
        } catch is DispatcherFault {
            // Another process has the lease, or the outcome of a write was unknown.
        } catch {
            world.report("an endpoint cannot be loaded: \(error)")
        }
        await store.release(endpoint)
    }

    private func configuration(in world: World) -> WebhookConfiguration {
        var configuration = WebhookConfiguration(
            now: { [scheduler = world.scheduler] in
                Timestamp(microseconds: 1_790_000_000_000_000 + scheduler.now)
            },
            send: { [weak world] request in
                await world?.receive(request) ?? .failed(.stopped)
            })
        // No event is given up, however often its receiver fails.
        configuration.retries = RetrySchedule(
            delays: Array(repeating: 1, count: 10_000), jitter: { 0.1 })
        configuration.clock = world.clock
        configuration.start = { [lane] attempt in
            Task(executorPreference: lane) { await attempt() }
        }
        configuration.inFlightMax = 4
        configuration.pageMax = world.parameters.pageLimit
        return configuration
    }
}

extension World {
    /// Plays the receiver of a request, which may fail before or after it has accepted the event.
    func receive(_ request: WebhookRequest) async -> WebhookOutcome {
        await scheduler.sleep(microseconds: dice.microseconds(100...20_000))
        if strikes(.deliveryFails) { return .answered(status: 500, retryAfterSeconds: nil) }
        guard let tenant = TenantID(request.url), let event = request.field("webhook-id") else {
            return .failed(.unacceptableAddress)
        }
        endpoints.accept(event, of: tenant)
        trace("receiver: accepted \(event) of \(tenant)")
        await scheduler.sleep(microseconds: dice.microseconds(100...20_000))
        return strikes(.deliveryFails)
            ? .failed(.broken) : .answered(status: 200, retryAfterSeconds: nil)
    }
}
