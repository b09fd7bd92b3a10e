import Cryptography
import Ledger
import LedgerAPI
import LedgerPostgres
import Synchronization

/// Keeps the keys of a process that serves those of the key directory, so that a rotation needs no
/// restart.
///
/// The directory is read every few seconds, and at once when somebody comes with a key that is not
/// known; at most once a second, because anybody can name keys that never were. A MAC key is looked for
/// at once in any case: the log names it as soon as it is there, and what comes then needs it.
final class LiveKeys: Sendable {
    private static let pollInterval = Duration.seconds(5)
    private static let lookInterval = Duration.seconds(1)

    private let directory: KeyDirectory
    private let wrapping: WrappingKeyring
    private let tokens: AccessTokens
    private let log: Log
    private let lastLook = Mutex<ContinuousClock.Instant?>(nil)

    /// Has tokens and wrapping keys follow a directory.
    init(_ directory: KeyDirectory, wrapping: WrappingKeyring, tokens: AccessTokens, log: Log) {
        self.directory = directory
        self.wrapping = wrapping
        self.tokens = tokens
        self.log = log
        wrapping.whenUnknown { [weak self] in self?.look() }
        tokens.whenKeyIsUnknown { [weak self] in self?.look() }
        wrapping.macs.whenUnknown { [weak self] in
            self?.lastLook.withLock { _ in self?.read() }
        }
    }

    /// Follows the directory until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.pollInterval)) != nil {
            lastLook.withLock { last in
                last = .now
                read()
            }
        }
    }

    /// Reads the directory, unless somebody has just done so; who comes meanwhile waits for it.
    private func look() {
        lastLook.withLock { last in
            if let last, ContinuousClock.now - last < Self.lookInterval { return }
            last = .now
            read()
        }
    }

    private func read() {
        do throws(Fault) {
            guard let keys = try directory.load() else {
                throw directory.fault("\(directory.path) holds no keys any more")
            }
            if keys.token.keyID != tokens.signingKeyID || keys.tokenIDs != tokens.keyIDs {
                tokens.use(current: keys.token, others: keys.formerTokens)
                log.write(.info, "token keys changed", ["current": .text(keys.token.keyID)])
            }
            if keys.wrapping.currentID != wrapping.currentID || keys.wrapping.ids != wrapping.ids
                || keys.wrapping.macs.ids != wrapping.macs.ids
            {
                wrapping.use(keys.wrapping)
                log.write(
                    .info, "encryption or MAC keys changed",
                    ["current": .text(wrapping.currentID)])
            }
        } catch {
            // Those at hand are good until somebody has put the directory right.
            log.write(.error, "keys can't be read", ["detail": .text(error.description)])
        }
    }
}
