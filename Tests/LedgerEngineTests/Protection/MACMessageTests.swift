import Cryptography
import Encodings
import Testing

@testable import LedgerEngine

/// The MACs of rows.
@Suite struct MACMessageTests {
    private static func key(_ byte: UInt8) throws -> MACKey {
        MACKey(try #require(SymmetricKey(bytes: Array(repeating: byte, count: 32))))
    }

    @Test func `a MAC is the first 16 bytes of HMAC-SHA-256, after the key's id`() throws {
        let key = try Self.key(7)
        let secret = Array(repeating: UInt8(7), count: 32)
        var message = MACMessage(.entry, tenant: "acme")
        message.int8(258)
        // Each text is preceded by its length.
        let bytes: [UInt8] =
            [0, 0, 0, 0, 0, 0, 0, 5] + Array("entry".utf8) + [0, 0, 0, 0, 0, 0, 0, 4]
            + Array("acme".utf8) + [0, 0, 0, 0, 0, 0, 1, 2]
        #expect(message.bytes == bytes)
        #expect(
            key.mac(of: message).bytes
                == Array(SHA256.hash(secret).prefix(4))
                + Array(HMACSHA256.mac(key: secret, bytes).prefix(16)))
        #expect(Hex.encode(Array(SHA256.hash(secret).prefix(4))) == key.id.description)
        #expect(MACKey.ID(key.id.description) == key.id)
    }

    @Test func `no field runs into the next one`() throws {
        var first = MACMessage(.identity, tenant: "a")
        first.text("bc")
        first.text("d")
        var second = MACMessage(.identity, tenant: "a")
        second.text("b")
        second.text("cd")
        #expect(first.bytes != second.bytes)
        var absent = MACMessage(.merge, tenant: "a")
        absent.optional(UInt128?.none) { $0.uuid($1) }
        var zero = MACMessage(.merge, tenant: "a")
        zero.optional(UInt128(0)) { $0.uuid($1) }
        #expect(absent.bytes != zero.bytes)
        #expect(MACMessage(.head, tenant: "a").bytes != MACMessage(.entry, tenant: "a").bytes)
    }

    @Test func `a MAC is accepted for its own message and key only`() throws {
        let (key, other) = (try Self.key(1), try Self.key(2))
        let keys = MACKeys(current: key)
        let message = MACMessage(.session, tenant: "a")
        let stored = key.mac(of: message).bytes
        #expect(keys.accept(stored, of: message))
        #expect(!keys.accept(stored, of: MACMessage(.session, tenant: "b")))
        #expect(!keys.accept(other.mac(of: message).bytes, of: message))
        #expect(!keys.accept(Array(stored.dropLast()), of: message))
        for index in stored.indices {
            var changed = stored
            changed[index] ^= 1
            #expect(!keys.accept(changed, of: message))
        }
        keys.use(MACKeys(current: other, former: [key]))
        #expect(keys.accept(stored, of: message), "a former key's MACs are still accepted")
    }

    @Test(arguments: ["", "0123456", "012345678", "0123456G", "0123456A", "-1234567"])
    func `anything but eight lower-case digits is no key's id`(text: String) {
        #expect(MACKey.ID(text) == nil)
    }
}
