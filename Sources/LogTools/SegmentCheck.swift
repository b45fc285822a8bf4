import EventLog

extension EventLogReader {
    /// Reads every byte of consecutive segments, before an operation that could carry damage along or lose
    /// data in it.
    ///
    /// - Parameters:
    ///   - names: first sequences, in ascending order.
    ///   - sequence: the last event that matters.
    /// - Throws: `damaged`, `inputOutput`.
    func checkSegments(_ names: [UInt64], through sequence: UInt64) throws(LogError) {
        let segments = try LogExamination.examine(names, directory, metadata.storeID)
        let damage = LogExamination.damages(of: segments).first {
            ($0.sequence ?? 0) <= sequence
        }
        if let damage { throw .damaged(damage) }
        guard let last = segments.last, last.end.sequence < sequence else { return }
        let missing = FrameFault.missing(last.end.sequence + 1..<sequence + 1)
        throw .damaged(
            LogDamage(
                file: last.path, offset: last.endOffset, length: nil,
                sequence: last.end.sequence + 1, reason: missing.sentence))
    }
}
