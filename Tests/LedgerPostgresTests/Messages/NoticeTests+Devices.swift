import Ledger
import LedgerEngine
import LedgerMessages
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

extension NoticeTests {
    @Test func `neither sign-ins nor links use up the notice of a changed address`() async throws {
        try await with { scene in
            var caller = try await scene.signIn("ada@example.com")
            try await scene.link(caller, google("ada"))
            #expect(try await scene.sent().count == 1)
            for _ in 0..<5 {
                caller = try await scene.signIn(google("ada"), isNewDevice: true)
            }
            #expect(try await scene.sent().count == 3)
            for _ in 0..<12 {
                try await scene.link(caller, proof(subject("apple", "ada")))
                try await scene.unlink(caller, provider("apple"))
            }
            #expect(try await scene.sent().count == 19)
            let change = ChangeAddress(
                SessionRenewal(
                    caller: caller, password: nil, refreshToken: .zero,
                    newSession: SessionID(bits: 2)),
                from: try #require(
                    addressProof("ada@example.com", new: AddressID(bits: 1)).address
                ).names, to: addressProof("new@example.com", new: AddressID(bits: 3)),
                newFormer: AddressID(bits: 4))
            _ = try await scene.ledger.submit(.changeAddress(change)).get()
            #expect(try await scene.sent() == ["ada@example.com address_changed de -"])
        }
    }

    @Test func `a sign-in from a new device is told, but not to the address of its own code`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            _ = try await scene.sent()
            _ = try await scene.signIn(google("ada"), isNewDevice: true)
            #expect(try await scene.sent() == ["ada@example.com new_device de -"])
            // The message with the code has told it.
            let code = addressProof("ada@example.com", new: AddressID(bits: 7))
            _ = try await scene.signIn(code, isNewDevice: true)
            #expect(try await scene.sent() == [])
            let bob = try await scene.signIn("bob@example.com")
            _ = try await scene.merge(bob, into: ada)
            _ = try await scene.sent()
            _ = try await scene.signIn(code, isNewDevice: true)
            #expect(try await scene.sent() == ["bob@example.com new_device de -"])
        }
    }

    @Test func `codes that void those of two merged accounts are told once`() async throws {
        try await with { scene in
            var generator = SeededGenerator(seed: 2)
            var callers: [Caller] = []
            for name in ["ada", "bob"] {
                let caller = try await scene.signIn("\(name)@example.com")
                let enrolled = EnrolFactor(by: caller, &generator)
                _ = try await scene.ledger.submit(.enrolFactor(enrolled)).get()
                callers.append(Caller(account: caller.account, session: enrolled.newSession))
            }
            let authority = MergeAccounts.Authority.holderOfBoth(callers[0], callers[1])
            func merge(_ agreed: Digest?) async throws -> Reply {
                let merge = MergeAccounts(
                    authority: authority, keepsAbsorbed: [], agreed: agreed, digest: sha256)
                return try await scene.ledger.submit(.mergeAccounts(merge)).get()
            }
            guard case .mergePlanned(_, let digest) = try await merge(nil) else { return }
            _ = try await merge(digest)
            _ = try await scene.sent()
            let renewed = EnrolFactor(.recoveryCodes, by: callers[0], &generator)
            _ = try await scene.ledger.submit(.enrolFactor(renewed)).get()
            let sent = try await scene.sent()
            #expect(Set(sent).count == sent.count && !sent.isEmpty, "\(sent)")
            #expect(!sent.contains { $0.contains("recovery_codes_removed") }, "\(sent)")
        }
    }

    @Test func `removed recovery codes are told, with the last factor by its notice alone`()
        async throws
    {
        try await with { scene in
            var generator = SeededGenerator(seed: 1)
            let ada = try await scene.signIn("ada@example.com")
            let enrolled = EnrolFactor(by: ada, &generator)
            _ = try await scene.ledger.submit(.enrolFactor(enrolled)).get()
            let caller = Caller(account: ada.account, session: enrolled.newSession)
            _ = try await scene.sent()
            func remove(_ factor: FactorID) async throws {
                let removal = RemoveFactor(factor, by: .accountHolder(caller))
                _ = try await scene.ledger.submit(.removeFactor(removal)).get()
            }
            try await remove(enrolled.recoveryCodes.id)
            #expect(try await scene.sent() == ["ada@example.com recovery_codes_removed de -"])
            let codes = EnrolFactor(.recoveryCodes, by: caller, &generator)
            _ = try await scene.ledger.submit(.enrolFactor(codes)).get()
            #expect(try await scene.sent() == [])
            try await remove(enrolled.factor.id)
            #expect(try await scene.sent() == ["ada@example.com factor_removed de -"])
        }
    }
}
