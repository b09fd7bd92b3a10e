import Synchronization

/// The answers to commands that were submitted together.
final class GroupAnswers: Sendable {
    private struct State {
        var answers: [Sequencer.Answer?]
        var missing: Int
    }

    private let state: Mutex<State>
    private let answered: @Sendable ([Sequencer.Answer]) -> Void

    /// Waits for this number of answers.
    init(count: Int, _ answered: @escaping @Sendable ([Sequencer.Answer]) -> Void) {
        state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
        self.answered = answered
    }

    /// Sets an answer, once; with the last one all are passed on.
    func set(_ answer: Sequencer.Answer, at index: Int) {
        let all: [Sequencer.Answer]? = state.withLock { state in
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0 ? state.answers.compactMap(\.self) : nil
        }
        if let all { answered(all) }
    }
}
