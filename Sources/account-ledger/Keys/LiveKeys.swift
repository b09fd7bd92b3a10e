import CommandLine
import Cryptography
import Ledger
import LedgerAPI
import LedgerEngine
import LedgerSignIn
import Passwords
import Synchronization

/// Reloads the keys of a serving process from the key directory, so that a rotation needs no restart.
///
/// The directory is read every few seconds, and immediately when a request names an unknown key, but at
/// most once a second, because any client can name keys that never existed. An unknown MAC key is always
/// loaded immediately: the log names it as soon as it exists, and the following events need it.
final class LiveKeys: Sendable {
    private static let pollInterval = Duration.seconds(5)
    private static let readInterval = Duration.seconds(1)

    private let directory: KeyDirectory
    private let wrapping: WrappingKeyring
    private let tokens: AccessTokens
    private let digests: RequestDigests
    private let codes: AddressCodes
    private let passwords: PasswordChecks
    private let log: Log
    private let lastRead = Mutex<ContinuousClock.Instant?>(nil)

    /// Makes tokens and wrapping keys follow a directory.
    init(
        _ directory: KeyDirectory, wrapping: WrappingKeyring, tokens: AccessTokens,
        digests: RequestDigests, codes: AddressCodes, passwords: PasswordChecks, log: Log
    ) {
        self.directory = directory
        self.wrapping = wrapping
        self.tokens = tokens
        self.digests = digests
        self.codes = codes
        self.passwords = passwords
        self.log = log
        wrapping.whenUnknown { [weak self] in self?.look() }
        tokens.setUnknownKeyHandler { [weak self] in self?.look() }
        wrapping.macs.whenUnknown { [weak self] in
            self?.lastRead.withLock { _ in self?.read() }
        }
    }

    /// Follows the directory until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.pollInterval)) != nil {
            lastRead.withLock { last in
                last = .now
                read()
            }
        }
    }

    /// Reads the directory unless it was just read; concurrent callers wait for the result.
    private func look() {
        lastRead.withLock { last in
            if let last, ContinuousClock.now - last < Self.readInterval { return }
            last = .now
            read()
        }
    }

    private func read() {
        do throws(Fault) {
            guard let keys = try directory.load() else {
                throw directory.fault("\(directory.path) no longer holds keys")
            }
            if keys.token.keyID != tokens.signingKeyID || keys.tokenIDs != tokens.keyIDs {
                tokens.use(current: keys.token, others: keys.formerTokens)
                log.write(.info, "token keys changed", ["current": .text(keys.token.keyID)])
            }
            if keys.wrapping.currentID != wrapping.currentID || keys.wrapping.ids != wrapping.ids
                || keys.wrapping.macs.ids != wrapping.macs.ids
                || keys.wrapping.macs.allowsUnprotected != wrapping.macs.allowsUnprotected
            {
                wrapping.use(keys.wrapping)
                let secrets = wrapping.secrets
                digests.use(current: secrets.currentID, keys: secrets.keys)
                codes.use(current: secrets.currentID, keys: secrets.keys)
                log.write(
                    .info, "encryption or MAC keys changed",
                    ["current": .text(wrapping.currentID)])
            }
            if keys.peppers != passwords.peppers {
                passwords.use(keys.peppers)
                log.write(
                    .info, "peppers changed", ["current": .text(keys.peppers.current ?? "none")])
            }
        } catch {
            // The loaded keys stay in use until an operator has repaired the directory.
            log.write(.error, "keys can't be read", ["detail": .text(error.description)])
        }
    }
}
