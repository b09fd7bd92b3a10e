import Cryptography
import LedgerPostgres

extension KeyDirectory {
    /// The keys, or nil when the directory is missing or holds no key at all.
    ///
    /// - Throws: `Fault` when a kind is missing, a file is not what its name says, or it is not clear
    ///   which key of a kind is the current one.
    func load() throws(Fault) -> Keys? {
        guard let files = try list() else { return nil }
        var tokens: [String: TokenSigningKey] = [:]
        var encryption: [String: SymmetricKey] = [:]
        var refresh: SymmetricKey?
        for file in files {
            switch file {
            case .token(let id): tokens[id] = try tokenKey(file, id: id)
            case .encryption(let id): encryption[id] = try encryptionKey(file, id: id)
            case .refresh: refresh = try symmetricKey(file)
            case .developmentProvider, .current: break
            }
        }
        if tokens.isEmpty, encryption.isEmpty, refresh == nil { return nil }
        let chosen = try files.contains(.current) ? currentNames() : [:]
        let tokenID = try current("token", among: tokens.keys, chosen)
        let encryptionID = try current("encryption", among: encryption.keys, chosen)
        guard let refresh, let token = tokens[tokenID], let wrapping = encryption[encryptionID]
        else { throw fault("\(path) has no \(KeyFile.refresh.name)") }
        return Keys(
            token: token,
            formerTokens: tokens.filter { $0.key != tokenID }.sorted { $0.key < $1.key }.map(
                \.value),
            wrapping: WrappingKeyring(
                currentID: encryptionID, current: wrapping,
                former: encryption.filter { $0.key != encryptionID }),
            refresh: refresh)
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

    private func symmetricKey(_ file: KeyFile) throws(Fault) -> SymmetricKey {
        guard let key = SymmetricKey(bytes: try read(file)) else { throw notAKey(file) }
        return key
    }

    private func notAKey(_ file: KeyFile) -> Fault {
        fault("\(path(of: file)) does not hold the key that its name says")
    }

    /// Lines such as `token ID`: which key of a kind is used from now on.
    private func currentNames() throws(Fault) -> [Substring: String] {
        var names: [Substring: String] = [:]
        for line in String(decoding: try read(.current), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, names.updateValue(String(words[1]), forKey: words[0]) == nil
            else {
                throw fault("\(path(of: .current)) wants lines such as 'token ID', one of a kind")
            }
        }
        return names
    }

    private func current(
        _ kind: String, among ids: some Collection<String>, _ chosen: [Substring: String]
    ) throws(Fault) -> String {
        if let id = chosen[kind[...]] {
            guard ids.contains(id) else {
                throw fault("\(path(of: .current)) names a \(kind) key that is not there")
            }
            return id
        }
        guard let only = ids.first else { throw fault("\(path) has no \(kind) key") }
        guard ids.count == 1 else {
            throw fault(
                "\(path) has several \(kind) keys: name one in the file '\(KeyFile.current.name)'")
        }
        return only
    }
}
