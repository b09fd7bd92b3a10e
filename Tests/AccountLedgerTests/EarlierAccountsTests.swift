import Ledger
import LedgerTestSupport
import Testing

@testable import account_ledger

/// A dry run decides about each account as if the earlier ones of the file were in the ledger.
@Suite struct EarlierAccountsTests {
    @Test(arguments: [false, true])
    func `two accounts of a file do not get one address, also one that was only claimed`(
        isClaimed: Bool
    ) throws {
        var model = ModelLedger(policy: RandomCommands.policy(hasEveryType: true))
        var generator = SeededGenerator(seed: 41)
        if isClaimed {
            let mallory = try model.signIn(subject("google", "mallory"))
            let claim = passwordProof(
                "ada@x.test", new: generator.id(), hash: "hash 1", isClaim: true)
            let link = LinkProvider(
                caller: mallory,
                credential: Credential(
                    provider: RandomCommands.password, digest: digest(generator.bytes(32)),
                    check: .success(claim)),
                idempotency: nil, newIdentity: generator.id())
            _ = try model.execute(link.intent).get()
            _ = try model.unlink(mallory, "password").get()
        }
        var earlier = EarlierAccounts()
        var effects: [ImportAccount.Effect] = []
        for id in ["1", "2"] {
            let address = addressProof("ada@x.test", new: generator.id()).address
            let way = ImportAccount.Way(
                RandomCommands.password, newID: generator.id(),
                password: NewPassword(hash: "hash 2"))
            let command = ImportAccount(
                externalName(id), identities: [],
                addresses: [ImportAccount.Address(try #require(address), ways: [way])],
                actor: .system, newAccount: generator.id(), isPreview: true)
            let reply = try model.execute(command.intent).get()
            let success = try #require(ImportAccount.success(in: reply))
            effects.append(earlier.preview(command, success, model.policy).effect)
        }
        #expect(effects == [.opened, .refused])
    }
}
