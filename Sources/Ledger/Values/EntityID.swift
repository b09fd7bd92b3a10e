/// A 128-bit identifier, written as a lower-case UUID; identifiers of different kinds are different
/// types.
package struct EntityID<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
    // Two words and not one of 128 bits: Swift 6.3.1 overruns the frame of an async function that keeps
    // a value of 16-byte alignment across an await, and the task then resumes at address 0.
    private let high: UInt64
    private let low: UInt64

    /// The identifier's bits, most significant first.
    package var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// Wraps bits that are known to be an identifier.
    package init(bits: UInt128) {
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    /// Reads the 36-character lower- or upper-case text form, and nothing else.
    package init?(_ text: some StringProtocol) {
        var bits: UInt128 = 0
        var index = 0
        for byte in text.utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = hexDigitValue(byte) else { return nil }
                bits = bits << 4 | UInt128(digit)
            }
            index += 1
        }
        guard index == 36 else { return nil }
        self.init(bits: bits)
    }

    /// Reads the lower-case text form only: the one that entries use.
    package init?(canonical text: some StringProtocol) {
        guard text.utf8.allSatisfy({ !(0x41...0x46).contains($0) }) else { return nil }
        self.init(text)
    }

    /// Creates a UUIDv7: 48 bits of Unix milliseconds, then random bits (RFC 9562, section 5.7).
    package init(at time: Timestamp, random: UInt128) {
        let milliseconds = UInt128(UInt64(max(0, time.microseconds) / 1000)) & 0xFFFF_FFFF_FFFF
        let randomA = (random >> 64) & 0x0FFF
        let randomB = random & 0x3FFF_FFFF_FFFF_FFFF
        self.init(
            bits: milliseconds << 80 | UInt128(0x7) << 76 | randomA << 64 | UInt128(0b10) << 62
                | randomB)
    }

    /// Whether it has the form of a UUIDv7, so that ``madeAt`` is meaningful.
    package var isUUIDv7: Bool { high >> 12 & 0xF == 7 && low >> 62 == 0b10 }

    /// When a UUIDv7 was made, to the millisecond.
    package var madeAt: Timestamp { Timestamp(microseconds: Int64(high >> 16) * 1000) }

    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        appendText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text form to bytes that are being written.
    package func appendText(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 36) { text in
            appendHex(high, from: 32, digits: 8, to: &text)
            text.append(UInt8(ascii: "-"))
            appendHex(high, from: 16, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            appendHex(high, from: 0, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            appendHex(low, from: 48, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            appendHex(low, from: 0, digits: 12, to: &text)
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

@inline(__always)
private func appendHex(
    _ word: UInt64, from bit: UInt64, digits: UInt64, to text: inout OutputSpan<UInt8>
) {
    var shift = bit + 4 * digits
    while shift > bit {
        shift -= 4
        let value = Int32(truncatingIfNeeded: word >> shift) & 0xF
        // Branch-free, because random bits would be mispredicted.
        text.append(UInt8(truncatingIfNeeded: value &+ 0x30 &+ ((9 &- value) >> 8 & 39)))
    }
}

private func hexDigitValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// The kind of an ``AccountID``.
package enum AccountKind {}
/// The kind of an ``IdentityID``.
package enum IdentityKind {}
/// The kind of a ``SessionID``.
package enum SessionKind {}
/// The kind of an ``EventID``.
package enum EventKind {}
/// The kind of a ``CommandID``.
package enum CommandKind {}
/// The kind of a ``RequestID``.
package enum RequestKind {}
/// The kind of a ``HoldID``.
package enum HoldKind {}

/// The stable `user_id` that an app stores its data under.
package typealias AccountID = EntityID<AccountKind>
/// The opaque id of one subject at one provider; stable over unlink and relink.
package typealias IdentityID = EntityID<IdentityKind>
/// The id of one refresh-token family.
package typealias SessionID = EntityID<SessionKind>
/// The id of one event.
package typealias EventID = EntityID<EventKind>
/// The id of one command, shared by the events that it caused.
package typealias CommandID = EntityID<CommandKind>
/// The id of the request that carried a command.
package typealias RequestID = EntityID<RequestKind>
/// The id of one legal hold on one account.
package typealias HoldID = EntityID<HoldKind>
