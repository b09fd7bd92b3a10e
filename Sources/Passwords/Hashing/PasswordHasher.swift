internal import Cryptography

/// Hashes passwords by Argon2id and verifies them against hashes of any supported scheme.
///
/// Every call but ``needsRehash(_:)`` and ``decoy()`` blocks for as long as the cost says: call it on threads
/// for blocking work.
package struct PasswordHasher: Sendable {
    private let parameters: Argon2Parameters
    package let peppers: PasswordPeppers

    /// Creates a hasher with the parameters and the key of new hashes, and the keys of former ones.
    package init(parameters: Argon2Parameters = .standard, peppers: PasswordPeppers = .none) {
        self.parameters = parameters
        self.peppers = peppers
    }

    /// The same parameters with other keys.
    package func with(_ peppers: PasswordPeppers) -> PasswordHasher {
        PasswordHasher(parameters: parameters, peppers: peppers)
    }

    /// Hashes a password with a new salt.
    package func hash(_ password: PreparedPassword) throws(HashingFault) -> PasswordHash {
        let setting = Argon2idSetting(parameters: parameters, pepperID: peppers.current)
        let digest = try setting.digest(
            of: password.bytes, count: Argon2id.digestCount, peppers: peppers)
        return PasswordHash(.own(setting, digest: digest))
    }

    /// Checks a password against a hash, in a time that does not depend on where they differ.
    package func verify(
        _ password: Password, against hash: PasswordHash
    ) throws(HashingFault) -> Bool {
        switch hash.form {
        case .own(let setting, let digest):
            // One with characters that are not allowed equals no prepared one, but costs as much.
            let bytes = password.prepared?.bytes ?? password.sent
            return constantTimeEqual(
                try setting.digest(of: bytes, count: digest.count, peppers: peppers), digest)
        case .imported(let setting, let digest):
            guard let made = try setting.digest(of: password.sent, count: digest.count) else {
                return false
            }
            return constantTimeEqual(made, digest) && !password.hasNUL
        case .wrapped(let setting, let digest, let inner, let count):
            let old = try inner.digest(of: password.sent, count: count)
            let made = try setting.digest(
                of: WipedBytes(old ?? []), count: digest.count, peppers: peppers)
            return constantTimeEqual(made, digest) && old != nil && !password.hasNUL
        }
    }

    /// Whether a verified password should be hashed again: for another scheme, other parameters, or another
    /// or no pepper.
    package func needsRehash(_ hash: PasswordHash) -> Bool {
        guard case .own(let setting, let digest) = hash.form else { return true }
        return setting.parameters != parameters || setting.pepperID != peppers.current
            || setting.salt.count < Argon2id.saltCount || digest.count < Argon2id.digestCount
    }

    /// Reads a hash of another system for storing it: a weak one is wrapped, so that it is not stored.
    package func adopt(_ text: String) throws(AdoptionFault) -> PasswordHash {
        let hash: PasswordHash
        do { hash = try PasswordHash(text) } catch { throw .hash(error) }
        let (inner, digest): (any HashSetting, [UInt8])
        switch hash.form {
        case .own(let setting, let made): (inner, digest) = (setting, made)
        case .imported(let setting, let made): (inner, digest) = (setting, made)
        case .wrapped: throw .hash(.unsupported)
        }
        guard inner.isWeak else { return hash }
        do { try PasswordHash.checkUnkeyed(inner) } catch { throw .hash(error) }
        let setting = Argon2idSetting(parameters: parameters, pepperID: peppers.current)
        do {
            let made = try setting.digest(
                of: WipedBytes(digest), count: Argon2id.digestCount, peppers: peppers)
            return PasswordHash(
                .wrapped(setting, digest: made, inner: inner, count: digest.count))
        } catch { throw .hashing(error) }
    }

    /// Makes a hash that no password matches, for spending the same time on accounts that do not exist.
    package func decoy() -> PasswordHash {
        PasswordHash(
            .own(
                Argon2idSetting(parameters: parameters, pepperID: peppers.current),
                digest: SecureRandom.bytes(Argon2id.digestCount)))
    }
}

extension PasswordHash {
    /// Whether the hash depends on the whole of a password: bcrypt ignores the end of a long one.
    package func comparesWhole(_ password: Password) -> Bool {
        let setting: any HashSetting
        switch form {
        case .own: return true
        case .imported(let imported, _): setting = imported
        case .wrapped(_, _, let inner, _): setting = inner
        }
        return !(setting is BcryptSetting)
            || password.sent.count <= BcryptSetting.passwordBytesMax
    }
}

/// The reason why a hash of another system can't be adopted.
package enum AdoptionFault: Error, Hashable, Sendable {
    case hash(PasswordHashFault)
    case hashing(HashingFault)
}
