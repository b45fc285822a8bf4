import Digests

/// Checks frames of a shared journal, one after another, against the log that takes them.
struct FrameAdoption {
    /// The head after the frames that were written.
    private(set) var head: LogHead
    private(set) var frameCount = 0
    private(set) var byteCount = 0
    /// The frame to write next, after ``load(_:)``.
    let frame = FrameBuilder()
    private var next: LogHead
    private let hasher = SHA256()

    init(after head: LogHead) {
        self.head = head
        next = head
    }

    /// Makes ``frame`` of its bytes.
    /// - Returns: false if the log has it already.
    /// - Throws: why it does not continue the log.
    mutating func load(_ bytes: [UInt8]) throws(FrameFault) -> Bool {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(FrameFault) in try load(bytes) }
        }.get()
    }

    private mutating func load(_ bytes: UnsafeRawBufferPointer) throws(FrameFault) -> Bool {
        let header = try frame.load(bytes)
        if header.lastSequence <= head.sequence {
            // The hash of an earlier one is not known here.
            guard header.lastSequence < head.sequence || header.chain == head.hash else {
                throw .chain
            }
            return false
        }
        guard header.firstSequence == head.sequence + 1 else {
            throw .sequence(expected: head.sequence + 1, found: header.firstSequence)
        }
        guard header.epoch >= head.epoch else {
            throw .epoch(atLeast: head.epoch, found: header.epoch)
        }
        let chain = header.chain(
            after: head.hash, payload: header.payload(of: bytes), hasher: hasher)
        guard chain == header.chain else { throw .chain }
        next = LogHead(sequence: header.lastSequence, epoch: header.epoch, hash: chain)
        return true
    }

    /// ``frame`` was written.
    mutating func wrote() {
        frameCount += 1
        byteCount += frame.size
        head = next
    }
}
