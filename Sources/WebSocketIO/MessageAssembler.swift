/// Puts the pieces of a message together, up to a size. A pure value.
struct MessageAssembler {
    let maxBytes: Int
    private var collected: [UInt8] = []
    /// Whether the rest of a message is still to come, too large a one included.
    private(set) var isInsideMessage = false

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    enum Outcome: Equatable {
        /// More pieces follow.
        case incomplete
        case message([UInt8])
        /// More bytes than allowed have come or been announced. RFC 6455 §7.4.1: close with 1009.
        case tooLarge
    }

    /// Takes one piece.
    ///
    /// - Parameter remaining: bytes of the current frame that have not come yet.
    /// - Parameter isFinalFrame: whether the message ends with the current frame.
    mutating func append(
        _ piece: UnsafeRawBufferPointer, remaining: Int, isFinalFrame: Bool
    ) -> Outcome {
        if piece.count > maxBytes - collected.count
            || remaining > maxBytes - collected.count - piece.count
        {
            collected = []
            isInsideMessage = true
            return .tooLarge
        }
        let isComplete = isFinalFrame && remaining == 0
        isInsideMessage = !isComplete
        if collected.isEmpty && isComplete { return .message(Array(piece)) }
        if collected.isEmpty { collected.reserveCapacity(piece.count + remaining) }
        collected.append(contentsOf: piece)
        if !isComplete { return .incomplete }
        let message = collected
        collected = []
        return .message(message)
    }
}
