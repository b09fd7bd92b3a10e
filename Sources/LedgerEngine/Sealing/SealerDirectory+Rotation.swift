import Cryptography
import DurableFiles
package import Ledger
import TransparencyLog

extension SealerDirectory {
    /// A rotation: a key that signs a log beside another one and is to replace it.
    package struct Rotation: Hashable, Sendable {
        /// The id of the key that signed alone before.
        package let former: String
        /// The id of the added key.
        package let key: String
    }

    private static let rotationName = "rotation"
    private static let rotationBytesMax = 256

    /// A checkpoint key of a log.
    package struct Key: Sendable {
        package let tenant: TenantID
        package let vkey: String
        /// Whether the key signs, or is retired.
        package let signs: Bool
    }

    /// Returns the rotation in progress, in which both keys sign, or nil.
    package func rotation(of tenant: TenantID) throws(SealerRecordFault) -> Rotation? {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            return try rotation(
                in: directory,
                signers: signers(of: origin(of: tenant, in: directory), in: directory))
        }
    }

    /// Returns all keys, by tenant.
    package func keys() throws(SealerRecordFault) -> [Key] {
        try mappingErrors {
            var keys: [Key] = []
            for tenant in try tenants() {
                let directory = root.directory(tenant.description)
                for name in (try directory.names() ?? []).sorted() {
                    let isKey =
                        CheckpointKeyFile.isSigning(name) || CheckpointKeyFile.isRetired(name)
                    guard isKey,
                        let bytes = try directory.read(
                            name, bytesMax: CheckpointKeyFile.bytesMax)
                    else { continue }
                    let signer = CheckpointKeyFile.signer(bytes)
                    if let verifier = signer?.verifier ?? CheckpointKeyFile.verifier(bytes) {
                        keys.append(
                            Key(tenant: tenant, vkey: verifier.vkey, signs: signer != nil))
                    }
                }
            }
            return keys
        }
    }

    /// Whether a log was ever sealed from this directory.
    package func hasKeys(of tenant: TenantID) throws(SealerRecordFault) -> Bool {
        try mappingErrors { try root.directory(tenant.description).names() != nil }
    }

    /// Adds a signing key to a log: the next checkpoint is signed with both keys.
    ///
    /// Throws `.damaged` when several keys sign already: one of them has to be retired first.
    package func addKey(to tenant: TenantID) throws(SealerRecordFault) -> Rotation {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            return try whileLocked(directory) {
                let origin = try origin(of: tenant, in: directory)
                let own = try signers(of: origin, in: directory)
                guard let former = own.first, own.count == 1 else {
                    throw SealerRecordFault.damaged(
                        "\(directory.path) holds \(own.count) signing keys: retire all but one")
                }
                let key = Ed25519PrivateKey.generate()
                let verifier = NoteVerifier(name: origin, publicKey: key.publicKey)
                let rotation = Rotation(
                    former: CheckpointKeyFile.id(of: former.verifier),
                    key: CheckpointKeyFile.id(of: verifier))
                // Before the key, so that the two can be distinguished after a crash at any point.
                try directory.replace(
                    Self.rotationName, with: Array("\(rotation.former) \(rotation.key)\n".utf8))
                let text = CheckpointKeyFile.text(of: key, name: origin)
                guard
                    try directory.create(
                        CheckpointKeyFile.name(of: verifier), with: Array(text.utf8))
                else {
                    throw SealerRecordFault.damaged(
                        "\(directory.path) holds another key with this name")
                }
                return rotation
            }
        }
    }

    /// Makes the newest key the only signing key; of the others the public halves are kept.
    ///
    /// Throws `.damaged` while the last note is not signed with it: verifiers have to see both keys first.
    /// - Returns: the ids of the retired keys.
    package func retireFormerKeys(of tenant: TenantID) throws(SealerRecordFault) -> [String] {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            return try whileLocked(directory) {
                let origin = try origin(of: tenant, in: directory)
                let signers = try signers(of: origin, in: directory)
                guard let rotation = try rotation(in: directory, signers: signers) else {
                    return []
                }
                let own = signers.map(\.verifier)
                let new = own.filter { CheckpointKeyFile.id(of: $0) == rotation.key }
                guard let note = try last(in: directory)?.note,
                    (try? SignedNote(parsing: note).verify(new)) != nil
                else {
                    throw SealerRecordFault.damaged(
                        "nothing of tenant \(tenant) is signed with key \(rotation.key) yet")
                }
                let former = own.filter { CheckpointKeyFile.id(of: $0) != rotation.key }
                for verifier in former {
                    let name = CheckpointKeyFile.name(of: verifier)
                    try directory.replace(
                        CheckpointKeyFile.retiredName(of: verifier),
                        with: Array("\(verifier.vkey)\n".utf8))
                    try directory.remove(name)
                }
                return former.map(CheckpointKeyFile.id)
            }
        }
    }

    private func rotation(
        in directory: DurableDirectory, signers: [NoteSigner]
    ) throws -> Rotation? {
        guard let bytes = try directory.read(Self.rotationName, bytesMax: Self.rotationBytesMax)
        else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2 else {
            throw SealerRecordFault.damaged(
                "\(directory.path(of: Self.rotationName)) does not name two keys")
        }
        let rotation = Rotation(former: String(words[0]), key: String(words[1]))
        let ids = Set(signers.map { CheckpointKeyFile.id(of: $0.verifier) })
        // Interrupted before its key was written, or complete.
        return ids.isSuperset(of: [rotation.former, rotation.key]) ? rotation : nil
    }

    func signers(
        of origin: NoteKeyName, in directory: DurableDirectory
    ) throws -> [NoteSigner] {
        try (directory.names() ?? []).filter(CheckpointKeyFile.isSigning).compactMap { name in
            try directory.read(name, bytesMax: CheckpointKeyFile.bytesMax)
                .flatMap(CheckpointKeyFile.signer)
        }.filter { $0.verifier.name == origin }
    }
}
