import Cryptography
import Ledger
import LedgerAudit
import LedgerChannels
import LedgerEngine
import LedgerMessages
import LedgerPostgres
import LedgerSignIn
import StandardWebhooks

/// The background workers of a serving process.
struct Workers: Sendable {
    let sequencer: Sequencer
    let reads: AccountReads
    let access: AccessGate
    let projector: Projector
    let sweeper: Sweeper
    let figures: FigureWorker
    /// The sealer; nil in a process that does not seal.
    let sealer: Sealer?
    let erasure: ErasureWorker
    /// Signalled when this process has appended events.
    let commits = AdvanceSignal()
    let webhooks: WebhookDispatcher
    let messages: MessageDispatcher
    /// The messages of the development mode.
    let outboxes: [DevelopmentOutbox]
    private let sender = WebhookSender()
    let formerEmails: FormerEmailWorker
    private let watch: LockHolderWatch
    /// One for the whole process, so that each refusal is reported once.
    let fence = SchemaFence()

    init(
        _ configuration: ServeConfiguration, engine: DatabaseEngine, keys: Keys,
        tenants: @escaping @Sendable (TenantID) -> TenantConfiguration?,
        accountPage: @escaping @Sendable (TenantID) -> String?, faults: LastFault, log: Log
    ) {
        let url = configuration.databaseURL
        let fence = fence
        // Of Citus, as the workers learn them.
        let nodes = engine == .citus ? TenantNodes() : nil
        access = AccessGate(
            url: url, macs: keys.wrapping.macs, fence: fence, nodes: nodes
        ) { text in
            log.write(.error, "access fault", ["detail": .text(text)])
        }
        let advances = AdvanceSignal()
        let commits = commits
        let recent = RecentEvents()
        let projector = Projector(
            url: url, configuration: engine.projecting, keyring: keys.wrapping,
            recent: recent, nodes: nodes,
            onAdvance: { if $0.projection == .userProviders { advances.raise() } },
            onFault: { log.write(.error, "projector fault", ["detail": .text($0)]) })
        let sealer = configuration.sealerDirectory.map { directory in
            Sealer(
                url: url, configuration: engine.sealing, directory: directory,
                macs: keys.wrapping.macs, log: log)
        }
        let erasure = ErasureWorker(url: url, recent: recent) { text in
            log.write(.warning, "erasure fault", ["detail": .text(text)])
        }
        var delivering = WebhookConfiguration(
            now: { .now }, send: { [sender] in await sender.send($0) })
        delivering.retries = RetrySchedule(delays: configuration.webhookRetries)
        engine.slow(&delivering)
        let webhooks = WebhookDispatcher(
            url: url, configuration: delivering, keyring: keys.wrapping,
            onFault: { log.write(.error, "webhook fault", ["detail": .text($0)]) })
        let transports = configuration.messaging.transports()
        outboxes = transports.kept
        var sending = MessageDispatcherConfiguration(transports: transports.all) {
            tenants($0)?.messages ?? MessageSettings()
        }
        engine.slow(&sending)
        sending.provider = { tenants($0)?.displayName(of: $1) ?? $1.description }
        sending.accountPage = accountPage
        sending.maySend = { tenants($0)?.maySend(by: $1, to: $2) ?? true }
        let messages = MessageDispatcher(
            url: url, configuration: sending, keyring: keys.wrapping,
            onFault: { log.write(.warning, "message fault", ["detail": .text($0)]) })
        formerEmails = FormerEmailWorker(
            url: url, keyring: keys.wrapping, key: keys.searching.search
        ) { text in
            log.write(.warning, "former e-mail fault", ["detail": .text(text)])
        }
        var sequencing = SequencerConfiguration(url: url)
        sequencing.queueLimit = configuration.queueLimit
        sequencing.fence = fence
        sequencing.nodes = nodes
        sequencing.refusesOtherRules = true
        sequencing.noticeLanguage = { tenants($0)?.noticeLanguage }
        sequencing.noticeTextsMax = { tenants($0)?.noticeTextsMax ?? .max }
        sequencer = Sequencer(
            configuration: sequencing, policy: { tenants($0)?.policy }, keyring: keys.wrapping,
            onCommit: { appended in
                for events in appended {
                    recent.add(events)
                    if events.hasErasure { erasure.wake() }
                    if events.hasNotice { messages.wake() }
                }
                projector.wake(for: appended)
                sealer?.wake()
                commits.raise()
                webhooks.wake()
            },
            onFault: { text in
                // After a lost connection the database may have been restored and hold other events.
                recent.forget()
                faults.note(text)
                log.write(.error, "sequencer fault", ["detail": .text(text)])
            })
        reads = AccountReads(
            url: url, fence: fence, nodes: nodes, advances: advances,
            onBehind: { projector.wakeUrgently(for: $0, from: $1) },
            onFault: { log.write(.error, "reader fault", ["detail": .text($0)]) })
        sweeper = Sweeper(url: url) { text in
            log.write(.warning, "sweeper fault", ["detail": .text(text)])
        }
        figures = FigureWorker(url: url, pause: engine.figuresPause) { text in
            log.write(.warning, "figures fault", ["detail": .text(text)])
        }
        watch = LockHolderWatch(url: url) { text in
            log.write(.warning, "frozen process", ["detail": .text(text)])
        }
        self.messages = messages
        self.projector = projector
        self.sealer = sealer
        self.erasure = erasure
        self.webhooks = webhooks
    }

    /// Runs the workers during the body, and then until all accepted commands are answered.
    func run<Value: Sendable>(while body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sequencer.run() }
            group.addTask { await reads.run() }
            group.addTask { await access.run() }
            group.addTask { await projector.run() }
            group.addTask { await sweeper.run() }
            group.addTask { await figures.run() }
            if let sealer { group.addTask { await sealer.run() } }
            group.addTask { await erasure.run() }
            group.addTask {
                await webhooks.run()
                // Stopped last: answers to requests in flight are awaited before, which is bounded.
                sender.stop()
            }
            group.addTask { await messages.run() }
            group.addTask { await formerEmails.run() }
            group.addTask { await watch.run() }
            defer {
                sequencer.close()
                reads.close()
                access.close()
                group.cancelAll()
            }
            return try await body()
        }
    }
}
