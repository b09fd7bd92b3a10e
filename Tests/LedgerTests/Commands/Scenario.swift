import Ledger
import LedgerTestSupport

/// A ledger with a history, for tests of one command: given, when, then.
struct Scenario {
    /// A command's result and the events that it appended.
    struct Effects: Equatable {
        let result: Result<Reply, Refusal>
        let events: [Event]
    }

    /// The ledger; a test makes the history with it.
    var given: ModelLedger

    /// Starts an empty ledger; `change` adjusts the rules.
    init(_ change: (inout TenantPolicy) -> Void = { _ in }) {
        var policy = TenantPolicy(providers: Set(RandomCommands.providers))
        change(&policy)
        given = ModelLedger(policy: policy)
    }

    /// Executes a command.
    mutating func when(_ request: some LedgerRequest) throws -> Effects {
        try when(request.intent)
    }

    /// Executes a command.
    mutating func when(_ intent: Command.Intent) throws -> Effects {
        let count = given.events.count
        let result = try given.execute(intent)
        return Effects(result: result, events: Array(given.events[count...]))
    }
}

/// Describes the expected effects of a command.
func then(_ reply: Reply, _ events: Event...) -> Scenario.Effects {
    Scenario.Effects(result: .success(reply), events: events)
}

/// Describes the expected effects of a command that is refused.
func refused(_ refusal: Refusal, _ events: Event...) -> Scenario.Effects {
    Scenario.Effects(result: .failure(refusal), events: events)
}
