import Digests

/// Checks frames of a shared journal, one after another, against the log that takes them.
struct FrameAdoption {
    /// The head after the frames that were written.
    private(set) var head: LogHead
    private(set) var frameCount = 0
    private(set) var byteCount = 0
    /// The frame to write next, after ``load(_:)``.
    let builder = FrameBuilder()
    private let hasher = SHA256()

    init(after head: LogHead) { self.head = head }

    /// Makes ``builder`` of a frame.
    /// - Returns: false if the log has it already.
    /// - Throws: why it does not continue the log.
    func load(_ frame: WholeFrame) throws(FrameFault) -> Bool {
        if frame.head.sequence <= head.sequence {
            // The hash of an earlier one is not known here.
            guard frame.head.sequence < head.sequence || frame.chain == head.hash else {
                throw .chain
            }
            return false
        }
        try frame.check(after: head, hasher: hasher)
        builder.load(frame)
        return true
    }

    /// The frame was written.
    mutating func wrote(_ frame: WholeFrame) {
        frameCount += 1
        byteCount += frame.bytes.count
        head = frame.head
    }
}
