import Cryptography
import Ledger
import LedgerPostgres

extension KeyDirectory {
    /// The keys as they are used now, or nil when the directory is missing or holds no key at all.
    ///
    /// - Throws: `Fault` when a kind is missing, a file is not what its name says, or it is not clear
    ///   which key of a kind is the current one.
    func load() throws(Fault) -> Keys? {
        do throws(Fault) {
            return try loadOnce()
        } catch {
            // Somebody may have added a key between two looks.
            return try loadOnce()
        }
    }

    private func loadOnce() throws(Fault) -> Keys? {
        guard let files = try list() else { return nil }
        var tokens: [String: TokenSigningKey] = [:]
        var encryption: [String: SymmetricKey] = [:]
        var macs: [String: MACKey] = [:]
        var refresh: SymmetricKey?
        for file in files {
            switch file {
            case .token(let id): tokens[id] = try tokenKey(file, id: id)
            case .encryption(let id): encryption[id] = try encryptionKey(file, id: id)
            case .mac(let id): macs[id] = try macKey(file, id: id)
            case .refresh: refresh = try symmetricKey(file)
            case .developmentProvider, .current: break
            }
        }
        if tokens.isEmpty, encryption.isEmpty, refresh == nil { return nil }
        let choice = try files.contains(.current) ? readChoice() : KeyChoice()
        let now = Timestamp.now
        let tokenID = try current(.token, among: tokens.keys, choice, at: now)
        let encryptionID = try current(.encryption, among: encryption.keys, choice, at: now)
        guard let refresh, let token = tokens[tokenID], let wrapping = encryption[encryptionID]
        else { throw fault("\(path) has no \(KeyFile.refresh.name)") }
        return Keys(
            token: token,
            formerTokens: tokens.filter { $0.key != tokenID }.sorted { $0.key < $1.key }.map(
                \.value),
            wrapping: WrappingKeyring(
                currentID: encryptionID, current: wrapping,
                former: encryption.filter { $0.key != encryptionID },
                macs: try macKeys(macs, choice, at: now)),
            refresh: refresh, announcedTokenID: choice.lastID(of: .token) ?? tokenID,
            announcedEncryptionID: choice.lastID(of: .encryption) ?? encryptionID)
    }

    /// The key of a development identity provider, or nil when there is none yet.
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

    private func encryptionKey(_ file: KeyFile, id: String) throws(Fault) -> SymmetricKey {
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

    /// There is none in a directory of a former release.
    private func macKeys(
        _ keys: [String: MACKey], _ choice: KeyChoice, at now: Timestamp
    ) throws(Fault) -> MACKeys {
        guard !keys.isEmpty else { return MACKeys(current: nil) }
        let id = try current(.mac, among: keys.keys, choice, at: now)
        return MACKeys(current: keys[id], former: keys.filter { $0.key != id }.map(\.value))
    }

    /// The MAC keys alone, of a directory that may have no others; nil when it has none.
    ///
    /// - Throws: as ``load()``.
    func loadMACKeys() throws(Fault) -> MACKeys? {
        guard let files = try list() else { return nil }
        var keys: [String: MACKey] = [:]
        for case .mac(let id) in files { keys[id] = try macKey(.mac(id: id), id: id) }
        guard !keys.isEmpty else { return nil }
        let choice = try files.contains(.current) ? readChoice() : KeyChoice()
        return try macKeys(keys, choice, at: .now)
    }

    private func symmetricKey(_ file: KeyFile) throws(Fault) -> SymmetricKey {
        guard let key = SymmetricKey(bytes: try read(file)) else { throw notAKey(file) }
        return key
    }

    private func notAKey(_ file: KeyFile) -> Fault {
        fault("\(path(of: file)) does not hold the key that its name says")
    }

    /// What the file `current` says.
    func readChoice() throws(Fault) -> KeyChoice {
        let text = String(decoding: try read(.current), as: UTF8.self)
        guard let choice = KeyChoice(text) else {
            throw fault("\(path(of: .current)) wants lines such as 'token ID', one of a kind")
        }
        return choice
    }

    /// The key of a kind that is used at a moment; one that another took over from need not be there.
    func current(
        _ kind: KeyChoice.Kind, among ids: some Collection<String>, _ choice: KeyChoice,
        at now: Timestamp
    ) throws(Fault) -> String {
        for id in [choice.id(of: kind, at: now), choice.lastID(of: kind)].compactMap(\.self) {
            guard ids.contains(id) else {
                throw fault("\(path(of: .current)) names a \(kind.rawValue) key that is not there")
            }
        }
        if let id = choice.id(of: kind, at: now) { return id }
        guard let only = ids.first else { throw fault("\(path) has no \(kind.rawValue) key") }
        guard ids.count == 1 else {
            throw fault(
                "\(path) has several \(kind.rawValue) keys: name one in the file '\(KeyFile.current.name)'"
            )
        }
        return only
    }
}
