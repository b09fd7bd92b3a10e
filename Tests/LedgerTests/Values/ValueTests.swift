import Cryptography
import Encodings
import Ledger
import Testing

@Suite struct ValueTests {
    @Test(arguments: [
        ("00000000-0000-0000-0000-000000000000", true),
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", true),
        ("0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B", true),
        ("01234567-89ab-cdef-fedc-ba9876543210", true),
        ("", false), ("0190a1b2c3d47e5f8a9b0c1d2e3f4a5b", false),
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5", false),
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b0", false),
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5g", false),
        ("0190a1b2_c3d4-7e5f-8a9b-0c1d2e3f4a5b", false),
    ])
    func `an identifier is read from its text form only`(text: String, isRead: Bool) {
        let id = AccountID(text)
        #expect((id != nil) == isRead)
        if let id { #expect(id.description == text.lowercased()) }
    }

    /// Swift 6.3.1 crashes on a value of 16-byte alignment that lives across an await.
    @Test func `an identifier requires no more alignment than a word`() {
        #expect(MemoryLayout<AccountID>.alignment == 8)
        #expect(MemoryLayout<Command>.alignment == 8)
        #expect(MemoryLayout<Result<Reply, Refusal>>.alignment == 8)
    }

    @Test func `a new identifier is a UUIDv7 of its time`() throws {
        // The example of RFC 9562, appendix A.6.
        let time = Timestamp(microseconds: 0x017F_22E2_79B0 * 1000)
        let random: UInt128 = 0xCC3 << 64 | 0x18C4_DC0C_0C07_398F
        #expect(
            EventID(at: time, random: random).description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (1_790_000_000_123_456, "2026-09-21T14:13:20.123456Z"),
        (4_102_444_799_999_999, "2099-12-31T23:59:59.999999Z"),
    ])
    func `a time is written with six digits and read back`(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
        #expect(Timestamp(text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        String(repeating: "0", count: 27), "0000-01-01T00:00:00.000000Z",
        "2025-00-10T00:00:00.000000Z", "2025-10-00T00:00:00.000000Z",
        "2026-02-29T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z",
        "2026-01-01T24:00:00.000000Z", "2026-01-01T00:00:60.000000Z",
        "2026-01-01 00:00:00.000000Z", "2026-01-01T00:00:00.00000Z",
        "2026-01-01T00:00:00.000000+", "", "x",
    ])
    func `a time in another format is refused`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test(arguments: [
        ("default", true), ("acme-2", true), ("a_b", true), ("7up", true), ("", false),
        ("Acme", false), ("-a", false), ("a/b", false), ("a b", false), ("é", false),
        (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
    ])
    func `a tenant's name keeps to its grammar`(text: String, isName: Bool) {
        #expect((TenantID(text) != nil) == isName)
    }

    @Test(arguments: [
        ("s", true), (String(repeating: "x", count: 255), true),
        (String(repeating: "x", count: 256), false), ("", false), ("a\u{0}b", false),
        ("a\nb", false), ("ü|☃", true),
    ])
    func `a subject has 1 to 255 bytes and no control characters`(text: String, isSubject: Bool) {
        let name = ProviderName("google")
        let subject = name.flatMap { Subject(provider: $0, providerID: text) }
        #expect((subject != nil) == isSubject)
    }

    @Test func `a digest survives its text form`() {
        let digest = Digest((0..<32).map { UInt8($0 * 7) })
        #expect(digest?.bytes == (0..<32).map { UInt8($0 * 7) })
        #expect(digest.flatMap { Digest(base64URL: $0.description) } == digest)
        #expect(Digest([1, 2, 3]) == nil)
        #expect(Digest(base64URL: "AA") == nil)
        // The 43rd character holds four bits; the two remaining bits must be zero.
        #expect(Digest(base64URL: String(repeating: "A", count: 42) + "B") == nil)
    }

    @Test func `a digest is written as any other bytes are`() {
        var characters: Set<Character> = []
        for seed in 0..<64 as Range<UInt8> {
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 * 37) ^ seed &* 97 }
            let text = Digest(bytes)?.description
            #expect(text == Base64URL.encode(bytes))
            characters.formUnion(text ?? "")
        }
        #expect(characters.count == 64)
    }
}
