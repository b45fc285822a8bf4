extension EventLogReader {
    /// Reads segments that follow each other, every byte of them, before something is done with them that
    /// damage must not go along with or be lost in.
    ///
    /// - Parameters:
    ///   - names: first sequences, rising.
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
