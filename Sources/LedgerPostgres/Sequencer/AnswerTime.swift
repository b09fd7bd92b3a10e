/// What bounds the time to an answer under any load: the sum of the two.
package enum AnswerTime {
    /// How long a command, a read or a look-up may wait before it is begun; later it is refused.
    package static let waitMax = Duration.seconds(5)
    /// How long the transaction that it is begun in may take, connecting included.
    static let transactionMax = Duration.seconds(6)
}
