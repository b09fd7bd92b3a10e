internal import Cryptography
internal import Encodings
package import Ledger

/// A device that a token makes known to an address or an account.
struct KnownDevice {
    /// The name by which its tries count.
    let name: String
    let issuedAt: Timestamp
}

/// The tokens by which a device is known to addresses that it has proved, and to accounts whose second factor it has
/// given.
///
/// 16 random bytes, and up to five marks, the newest one first: a time, and the MAC of 16 bytes of the time and the
/// random bytes with an address or an account. Nothing is stored, so a mark ends with its time, or when the time is
/// before the last end of all sessions of the account. A sign-in without the factor makes no device known to the
/// account: a stranger with the password could collect tokens before the first enrolment, and guess codes with them.
/// The random bytes prove nothing without a mark, so those of a presented token are kept, of any origin.
extension AddressCodes {
    private struct Mark {
        static let timeBytes = 8
        static let macBytes = 16
        static let bytes = timeBytes + macBytes

        let issuedAt: Timestamp
        let mac: [UInt8]

        var bytes: [UInt8] {
            let shifts = stride(from: 8 * (Self.timeBytes - 1), through: 0, by: -8)
            return shifts.map { UInt8(truncatingIfNeeded: issuedAt.microseconds >> $0) } + mac
        }

        init(issuedAt: Timestamp, mac: [UInt8]) {
            self.issuedAt = issuedAt
            self.mac = mac
        }

        init(_ bytes: ArraySlice<UInt8>) {
            issuedAt = Timestamp(
                microseconds: bytes.prefix(Self.timeBytes).reduce(0) { $0 << 8 | Int64($1) })
            mac = Array(bytes.dropFirst(Self.timeBytes))
        }

        func isCurrent(at now: Timestamp, seconds: Int64 = AddressCodes.deviceTokenSeconds) -> Bool
        {
            now < issuedAt.adding(seconds: seconds)
        }
    }

    private struct DeviceToken {
        static let idBytes = 16

        let id: [UInt8]
        let marks: [Mark]

        init(id: [UInt8], marks: [Mark]) {
            self.id = id
            self.marks = marks
        }

        /// Reads a token; nil for another text.
        ///
        /// One of the former form, which had no times, is such a text, or no mark of it has a valid MAC; the next sign-in
        /// leaves these out.
        init?(_ text: String) {
            guard text.utf8.count <= AddressCodes.deviceTokenBytesMax,
                let bytes = Base64URL.decode(text), bytes.count > Self.idBytes,
                (bytes.count - Self.idBytes).isMultiple(of: Mark.bytes)
            else { return nil }
            id = Array(bytes.prefix(Self.idBytes))
            marks = stride(from: Self.idBytes, to: bytes.count, by: Mark.bytes).map {
                Mark(bytes[$0..<$0 + Mark.bytes])
            }
        }

        var text: String { Base64URL.encode(id + marks.flatMap(\.bytes)) }
    }

    private static let marksMax = 5

    /// The maximum length of a token, in Base64url.
    package static let deviceTokenBytesMax = 192
    /// The time for which a device without a sign-in stays known, in seconds: as long as browsers keep a cookie
    /// (RFC 6265bis, section 5.5).
    package static let deviceTokenSeconds: Int64 = 400 * 86_400
    /// The age from which a sign-in renews a token, in seconds: not each one, so that a client stores the same token
    /// again.
    package static let deviceTokenRenewalSeconds: Int64 = 86_400

    /// Returns the token of a device that has just signed in, or stays known: the presented one, or a new one.
    ///
    /// - Parameters:
    ///   - addresses: The address that the sign-in proved, if it did; at a change also those that the device is to stay
    ///     known to.
    ///   - account: The account, if the sign-in included its second factor, or the device is to stay known to it.
    ///   - token: The token that the client presented.
    ///   - openedAt: The time of the command that opened the session. The token has it, since all sessions may have ended
    ///     after that command; nil without a session.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: nil without an address and an account.
    package func deviceToken(
        for addresses: [ProvedAddress], _ account: AccountID?, presented token: String?,
        openedAt: Timestamp? = nil, in tenant: TenantID, at now: Timestamp
    ) async -> String? {
        let proved =
            addresses.map { texts(of: $0.text, $0.kind) }
            + [account].compactMap { $0.map { texts(of: $0) } }
        guard !proved.isEmpty else { return nil }
        // The command may have ended former tokens, at a time of the database's clock: this one is not among them. It
        // is committed, so a fault of the store makes a token of the present time.
        let endedAt = try? await store.devicesEnded(
            of: addresses.flatMap(\.names), account, in: tenant)
        let presented = token.flatMap { DeviceToken($0) }
        let isGood = proved.allSatisfy { texts in
            guard let presented, let found = mark(of: presented, for: texts, in: tenant) else {
                return false
            }
            return found.isCurrent(at: now, seconds: Self.deviceTokenRenewalSeconds)
                && found.issuedAt >= endedAt ?? found.issuedAt
        }
        if let token, isGood { return token }
        let id = presented?.id ?? SecureRandom.bytes(DeviceToken.idBytes)
        let time = openedAt ?? max(now, endedAt ?? now)
        let own = proved.compactMap { texts in
            macs(of: id, time, texts, in: tenant).first.map { Mark(issuedAt: time, mac: $0) }
        }
        // MACs of a token of the former form, which had no times, can be read as marks of a far future.
        let latest = now.adding(seconds: Self.deviceTokenRenewalSeconds)
        let others = (presented?.marks ?? []).filter { mark in
            mark.isCurrent(at: now) && mark.issuedAt < latest
                && !proved.contains { isValid(mark, of: id, for: $0, in: tenant) }
        }
        return DeviceToken(id: id, marks: Array((own + others).prefix(Self.marksMax))).text
    }

    /// Whether a token shows that its device has signed in with an address, or to an account with its second factor.
    ///
    /// It does not when the store fails.
    package func isKnown(
        _ token: String?, to address: ProvedAddress?, _ account: AccountID?, in tenant: TenantID,
        at now: Timestamp
    ) async -> Bool {
        let known = [
            address.flatMap { device(token, of: $0.text, $0.kind, in: tenant, at: now) },
            account.flatMap { device(token, of: $0, in: tenant, at: now) },
        ]
        for device in known {
            let name = try? await self.name(
                of: device, for: address?.names ?? [], account, in: tenant)
            if name != nil { return true }
        }
        return false
    }

    /// Returns the device of a token; nil for a token that no key has made for the address, and for an old one.
    ///
    /// It may have ended: ``name(of:for:_:in:)``.
    func device(
        _ token: String?, of address: String, _ kind: AddressKind, in tenant: TenantID,
        at now: Timestamp
    ) -> KnownDevice? {
        device(token, texts(of: address, kind), in: tenant, at: now)
    }

    /// Returns the device of a token; nil for a token that no key has made for the account, and for an old one.
    ///
    /// It may have ended: ``name(of:for:_:in:)``.
    func device(
        _ token: String?, of account: AccountID, in tenant: TenantID, at now: Timestamp
    ) -> KnownDevice? {
        device(token, texts(of: account), in: tenant, at: now)
    }

    /// Returns the name by which the tries of a device count; nil for one whose token has ended.
    ///
    /// Only a device with a valid MAC asks the store: a person who never proved the address causes no query, whether or
    /// not an account has it.
    func name(
        of device: KnownDevice?, for names: [AddressName], _ account: AccountID? = nil,
        in tenant: TenantID
    ) async throws(CodeFailure) -> String? {
        guard let device else { return nil }
        let endedAt = try await stored { () async throws(LedgerFault) in
            try await self.store.devicesEnded(of: names, account, in: tenant)
        }
        return device.issuedAt < endedAt ?? device.issuedAt ? nil : device.name
    }

    private func device(
        _ token: String?, _ texts: [String], in tenant: TenantID, at now: Timestamp
    ) -> KnownDevice? {
        guard let token = token.flatMap({ DeviceToken($0) }),
            let mark = mark(of: token, for: texts, in: tenant), mark.isCurrent(at: now)
        else { return nil }
        return KnownDevice(name: Base64URL.encode(token.id), issuedAt: mark.issuedAt)
    }

    /// Returns the mark of a token for an address or an account; nil without one.
    private func mark(of token: DeviceToken, for texts: [String], in tenant: TenantID) -> Mark? {
        token.marks.first { isValid($0, of: token.id, for: texts, in: tenant) }
    }

    private func isValid(
        _ mark: Mark, of id: [UInt8], for texts: [String], in tenant: TenantID
    ) -> Bool {
        macs(of: id, mark.issuedAt, texts, in: tenant).contains {
            constantTimeEqual($0, mark.mac)
        }
    }

    private func macs(
        of id: [UInt8], _ time: Timestamp, _ texts: [String], in tenant: TenantID
    ) -> [[UInt8]] {
        let message = Self.message(
            [tenant.description] + texts + [String(time.microseconds), Base64URL.encode(id)])
        return keys.macs(of: message, .device).map { Array($0.mac.prefix(Mark.macBytes)) }
    }

    private func texts(of address: String, _ kind: AddressKind) -> [String] {
        [kind.rawValue, address]
    }

    private func texts(of account: AccountID) -> [String] { ["account", account.description] }
}
