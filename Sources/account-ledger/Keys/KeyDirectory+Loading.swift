import CommandLine
import Cryptography
import Ledger
import LedgerEngine
import Passwords

extension KeyDirectory {
    /// Loads the keys in use now; nil when the directory is missing or holds no key.
    ///
    /// - Throws: `Fault` when a kind is missing, a file does not match its name, or the current key of a
    ///   kind is ambiguous.
    func load() throws(Fault) -> Keys? {
        do throws(Fault) {
            return try loadOnce()
        } catch {
            // Another process may have added a key between two reads.
            return try loadOnce()
        }
    }

    private func loadOnce() throws(Fault) -> Keys? {
        guard let files = try list() else { return nil }
        var tokens: [String: TokenSigningKey] = [:]
        var encryption: [String: SymmetricKey] = [:]
        var macs: [String: MACKey] = [:]
        var pepperKeys: [String: SymmetricKey] = [:]
        var refresh: SymmetricKey?
        for file in files {
            switch file {
            case .token(let id): tokens[id] = try tokenKey(file, id: id)
            case .encryption(let id): encryption[id] = try fingerprintedKey(file, id: id)
            case .mac(let id): macs[id] = try macKey(file, id: id)
            case .pepper(let id): pepperKeys[id] = try fingerprintedKey(file, id: id)
            case .refresh: refresh = try symmetricKey(file)
            case .developmentProvider, .current, .unprotectedLogs: break
            }
        }
        if tokens.isEmpty, encryption.isEmpty, refresh == nil { return nil }
        let choice = try files.contains(.current) ? readChoice() : KeyChoice()
        let now = Timestamp.now
        let tokenID = try current(.token, among: tokens.keys, choice, at: now)
        let encryptionID = try current(.encryption, among: encryption.keys, choice, at: now)
        let pepperID = try currentIfAny(.pepper, among: pepperKeys.keys, choice, at: now)
        guard let peppers = PasswordPeppers(keys: pepperKeys, current: pepperID) else {
            throw fault("\(path) has a pepper with a malformed name")
        }
        guard let refresh, let token = tokens[tokenID], let wrapping = encryption[encryptionID]
        else { throw fault("\(path) has no \(KeyFile.refresh.name)") }
        return Keys(
            token: token,
            formerTokens: tokens.filter { $0.key != tokenID }.sorted { $0.key < $1.key }.map(
                \.value),
            wrapping: WrappingKeyring(
                currentID: encryptionID, current: wrapping,
                former: encryption.filter { $0.key != encryptionID },
                macs: try macKeys(macs, choice, among: files, at: now)),
            refresh: refresh, peppers: peppers,
            announcedTokenID: choice.lastID(of: .token) ?? tokenID,
            announcedEncryptionID: choice.lastID(of: .encryption) ?? encryptionID,
            announcedPepperID: choice.lastID(of: .pepper))
    }

    /// Loads the key of a development identity provider; nil when it does not exist yet.
    func developmentKey(of provider: String) throws(Fault) -> RSASigningKey? {
        let file = KeyFile.developmentProvider(name: provider)
        guard let files = try list(), files.contains(file) else { return nil }
        guard let key = RSASigningKey(exported: try read(file)) else { throw notAKey(file) }
        return key
    }

    private func tokenKey(_ file: KeyFile, id: String) throws(Fault) -> TokenSigningKey {
        guard let key = TokenSigningKey(exported: try read(file)), key.keyID == id else {
            throw notAKey(file)
        }
        return key
    }

    private func fingerprintedKey(_ file: KeyFile, id: String) throws(Fault) -> SymmetricKey {
        let bytes = try read(file)
        guard let key = SymmetricKey(bytes: bytes), KeyFile.fingerprint(of: bytes) == id else {
            throw notAKey(file)
        }
        return key
    }

    private func macKey(_ file: KeyFile, id: String) throws(Fault) -> MACKey {
        let key = MACKey(try symmetricKey(file))
        guard key.id.description == id else { throw notAKey(file) }
        return key
    }

    /// Loads the MAC keys; nil for a directory of a former release.
    private func macKeys(
        _ keys: [String: MACKey], _ choice: KeyChoice, among files: [KeyFile], at now: Timestamp
    ) throws(Fault) -> MACKeys {
        guard !keys.isEmpty else { return MACKeys(current: nil) }
        let id = try current(.mac, among: keys.keys, choice, at: now)
        return MACKeys(
            current: keys[id], former: keys.filter { $0.key != id }.map(\.value),
            allowsUnprotected: files.contains(.unprotectedLogs))
    }

    /// Loads only the MAC keys of a directory, which may hold no others; nil when it has none.
    ///
    /// - Throws: as ``load()``.
    func loadMACKeys() throws(Fault) -> MACKeys? {
        do throws(Fault) {
            return try loadMACKeysOnce()
        } catch {
            return try loadMACKeysOnce()
        }
    }

    private func loadMACKeysOnce() throws(Fault) -> MACKeys? {
        guard let files = try list() else { return nil }
        var keys: [String: MACKey] = [:]
        for case .mac(let id) in files { keys[id] = try macKey(.mac(id: id), id: id) }
        guard !keys.isEmpty else { return nil }
        let choice = try files.contains(.current) ? readChoice() : KeyChoice()
        return try macKeys(keys, choice, among: files, at: .now)
    }

    private func symmetricKey(_ file: KeyFile) throws(Fault) -> SymmetricKey {
        guard let key = SymmetricKey(bytes: try read(file)) else { throw notAKey(file) }
        return key
    }

    private func notAKey(_ file: KeyFile) -> Fault {
        fault("\(path(of: file)) does not contain the key that its name states")
    }

    /// Reads the file `current`.
    func readChoice() throws(Fault) -> KeyChoice {
        let text = String(decoding: try read(.current), as: UTF8.self)
        guard let choice = KeyChoice(text) else {
            throw fault("\(path(of: .current)) must have lines such as 'token ID', one per kind")
        }
        return choice
    }

    /// Returns the key of a kind in use at a time; a replaced key may be missing.
    func current(
        _ kind: KeyChoice.Kind, among ids: some Collection<String>, _ choice: KeyChoice,
        at now: Timestamp
    ) throws(Fault) -> String {
        if let id = try currentIfAny(kind, among: ids, choice, at: now) { return id }
        guard let only = ids.first else { throw fault("\(path) has no \(kind.rawValue) key") }
        guard ids.count == 1 else {
            throw fault(
                "\(path) has several \(kind.rawValue) keys: name the current one in the file '\(KeyFile.current.name)'"
            )
        }
        return only
    }

    /// Returns the key of a kind that `current` names as the one in use at a time.
    ///
    /// - Throws: `Fault` when it or the next one is missing.
    func currentIfAny(
        _ kind: KeyChoice.Kind, among ids: some Collection<String>, _ choice: KeyChoice,
        at now: Timestamp
    ) throws(Fault) -> String? {
        let inUse = choice.id(of: kind, at: now)
        for id in [inUse, choice.lastID(of: kind)].compactMap(\.self) where !ids.contains(id) {
            throw fault("\(path(of: .current)) names a missing \(kind.rawValue) key")
        }
        return inUse
    }
}
