@_spi(Rooms) import RelayRecords

/// States of a history at even distances, which double when there are too many; and where each family of states that
/// share their names begins.
struct SpacedStates {
    static let firstSpacing: UInt64 = 64

    /// In log order.
    private(set) var states: [Snapshot] = []
    private var spacing = Self.firstSpacing

    /// Keeps a state, if it is at an even distance or begins a family. Passing one again changes nothing.
    ///
    /// Called for every event of a long way, nearly always for one behind the last state.
    /// - Parameter limit: on the states. Each second one is dropped when there are more; beginnings stay.
    mutating func keep(_ snapshot: Snapshot, limit: Int) {
        let isBehind = states.last.map { $0.sequence < snapshot.sequence } ?? true
        let place =
            isBehind
            ? states.endIndex
            : states.indices.firstIndex(whereNot: { states[$0].sequence < snapshot.sequence })
        guard isKept(snapshot, behind: place > 0 ? states[place - 1] : nil) else { return }
        if !isBehind, states[place].sequence == snapshot.sequence { return }
        states.insert(snapshot, at: place)
        guard states.count > limit, spacing < snapshot.sequence else { return }
        spacing *= 2
        var before: Snapshot?
        states = states.filter { state in
            defer { before = state }
            return isKept(state, behind: before)
        }
    }

    private func isKept(_ state: Snapshot, behind before: Snapshot?) -> Bool {
        state.sequence.isMultiple(of: spacing) || isBeginning(state, behind: before)
    }

    private func isBeginning(_ state: Snapshot, behind before: Snapshot?) -> Bool {
        state.symbols !== before?.symbols
    }

    /// The nearest state at or before an event.
    func nearest(through sequence: UInt64) -> Snapshot? {
        let next = states.indices.firstIndex(whereNot: { states[$0].sequence <= sequence })
        return next > 0 ? states[next - 1] : nil
    }
}
