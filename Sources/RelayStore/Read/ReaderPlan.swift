package import RelayArtifacts
import Synchronization

/// A selection set of a fragment under known variables, ready to be read from rows.
///
/// What is read depends on a record's type, so there is one ``FlatReading`` for each type that was met.
/// Fragments within, conditions and fields that stand there twice are merged in it. Any thread may use a
/// plan; one without type conditions takes no lock.
package final class ReaderPlan: Sendable {
    let variables: VariableData
    private let symbols: Symbols
    private let sources: [[ReaderSelection]]
    /// The reading for all types, where it is the same.
    private let common: FlatReading?
    private let readings = Mutex<[NameIndex: FlatReading]>([:])

    package convenience init(
        _ fragment: ReaderFragment, variables: VariableData, symbols: Symbols
    ) {
        self.init([fragment.selections], variables, symbols)
    }

    init(_ sources: [[ReaderSelection]], _ variables: VariableData, _ symbols: Symbols) {
        self.sources = sources
        self.variables = variables
        self.symbols = symbols
        if sources.contains(where: Self.hasTypeConditions) {
            common = nil
        } else {
            var flattener = ReaderFlattener(type: nil, variables, symbols) { _ in false }
            for source in sources { flattener.add(source) }
            common = flattener.reading()
        }
    }

    private static func hasTypeConditions(_ selections: [ReaderSelection]) -> Bool {
        selections.contains { selection in
            switch selection {
            case .inlineFragment: true
            case .condition(let part): hasTypeConditions(part.selections)
            case .clientExtension(let part): hasTypeConditions(part.selections)
            case .defer(let part): hasTypeConditions(part.selections)
            case .stream(let part): hasTypeConditions(part.selections)
            case .scalarField, .linkedField, .fragmentSpread: false
            }
        }
    }

    /// What is read of records of a type.
    /// - Parameter snapshot: asked what objects told of types that the compiler did not know.
    @inline(__always)
    func reading(_ type: NameIndex, in snapshot: borrowing Snapshot) -> FlatReading {
        if let common { return common }
        return typedReading(type, in: snapshot)
    }

    private func typedReading(_ type: NameIndex, in snapshot: borrowing Snapshot) -> FlatReading {
        if let known = readings.withLock({ $0[type] }) { return known }
        let snapshot = copy snapshot
        var flattener = ReaderFlattener(type: type, variables, symbols) {
            snapshot.type(type, has: $0)
        }
        for source in sources { flattener.add(source) }
        let reading = flattener.reading()
        guard flattener.isForAllTimes else { return reading }
        return readings.withLock { readings in
            // Another thread may have been faster; data is compared by the identity of its reading.
            if let known = readings[type] { return known }
            readings[type] = reading
            return reading
        }
    }
}

/// What is read of records of one type: one field for each name in the data.
package final class FlatReading: @unchecked Sendable {
    // Unchecked: the names are in the symbol table, which keeps them and never changes them.

    package struct Field {
        package enum Kind: Sendable {
            case scalar
            case linked
            case plural
            /// `__typename`: told by the record's type.
            case typename
            /// `__id`: the record's id.
            case dataID
        }

        /// The name in the data, in memory that stays.
        let name: UnsafeBufferPointer<UInt8>
        let key: NameIndex
        package let kind: Kind
        let required: RequiredAction?
        let catchTo: CatchTarget?
        /// Of a field that only the client's schema has: not missing when it is unknown.
        let isClient: Bool
        /// Of a linked or plural field.
        let child: ReaderPlan?
        /// The place of a linked or plural field among a node's children.
        let childPlace: Int
    }

    /// Linked and plural fields come in the order of their places among the children.
    package let fields: ContiguousArray<Field>
    let childCount: Int
    /// Storage keys that are read, for the index of subscriptions.
    let keys: Set<NameIndex>
    /// The fragments that stand here, with their arguments' values.
    package let spreads: [String: VariableData]
    let symbols: Symbols

    init(
        _ fields: ContiguousArray<Field>, spreads: [String: VariableData], symbols: Symbols
    ) {
        self.fields = fields
        self.spreads = spreads
        self.symbols = symbols
        childCount = fields.count { $0.child != nil }
        keys = Set(fields.lazy.filter { $0.kind != .typename && $0.kind != .dataID }.map(\.key))
    }

    /// The place of the field with this name.
    /// - Parameter hint: where it probably is.
    @inline(__always)
    func place(of name: UnsafeBufferPointer<UInt8>, hint: Int) -> Int? {
        if hint < fields.count, Self.equal(fields[hint].name, name) { return hint }
        return fields.firstIndex { Self.equal($0.name, name) }
    }

    @inline(__always)
    private static func equal(
        _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        one.count == other.count && one.elementsEqual(other)
    }
}
