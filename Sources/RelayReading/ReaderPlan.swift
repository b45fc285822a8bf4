package import RelayArtifacts
@_spi(Rooms) package import RelayRecords
import Synchronization
import Threads

/// A selection set of a fragment with known variables, ready to be read from rows.
///
/// What is read depends on a record's type, so there is one ``FlatReading`` for each type seen so far.
/// Nested fragments, conditions and repeated fields are merged in it. Any thread may use a plan; one
/// without type conditions takes no lock.
package final class ReaderPlan: Sendable {
    let variables: VariableData
    private let symbols: Symbols
    private let names: NamePins
    private let sources: [[ReaderSelection]]
    /// Types of records that the fragment applies to, whatever the schema says about them.
    let types: [NameIndex]
    /// What the root record's type is called in the schema, if the selections are of a fragment or an operation.
    private let rootTypename: String?
    /// The reading for all types, if it is the same.
    private let common: FlatReading?
    private let readings = Lock(TypedReadings())

    private struct TypedReadings {
        /// For types whose abstract types the compiler knew. What the store has learned about a type stays valid.
        var known: [NameIndex: FlatReading] = [:]
        var variants = TypeVariants<FlatReading>()
    }

    package convenience init(
        _ fragment: ReaderFragment, variables: VariableData, symbols: Symbols
    ) {
        self.init(
            [fragment.selections], variables, symbols, NamePins(symbols),
            types: [symbols.name(fragment.type), symbols.name(Snapshot.rootTypeName)],
            rootTypename: fragment.metadata.rootType ?? fragment.type)
    }

    init(
        _ sources: [[ReaderSelection]], _ variables: VariableData, _ symbols: Symbols,
        _ names: NamePins, types: [NameIndex] = [], rootTypename: String? = nil
    ) {
        self.types = types
        self.rootTypename = rootTypename
        self.sources = sources
        self.variables = variables
        self.symbols = symbols
        self.names = names
        if sources.contains(where: Self.hasTypeConditions) {
            common = nil
        } else {
            var flattener = ReaderFlattener(
                type: nil, rootTypename: rootTypename, variables, symbols, names
            ) { _ in false }
            for source in sources { flattener.add(source) }
            common = flattener.reading()
        }
    }

    private static func hasTypeConditions(_ selections: [ReaderSelection]) -> Bool {
        selections.contains { selection in
            switch selection {
            case .inlineFragment: true
            case .alias(let alias): !alias.isAlways
            case .condition(let part): hasTypeConditions(part.selections)
            case .clientExtension(let part): hasTypeConditions(part.selections)
            case .defer(let part): hasTypeConditions(part.selections)
            case .stream(let part): hasTypeConditions(part.selections)
            case .scalarField, .linkedField, .fragmentSpread: false
            }
        }
    }

    /// What is read of records of a type.
    /// - Parameter snapshot: knows what responses said about types that the compiler did not know.
    @inline(__always)
    func reading(_ type: NameIndex, in snapshot: borrowing Snapshot) -> FlatReading {
        if let common { return common }
        return typedReading(type, in: snapshot)
    }

    private func typedReading(_ type: NameIndex, in snapshot: borrowing Snapshot) -> FlatReading {
        if let known = readings.withLock({ $0.known[type] }) { return known }
        let snapshot = copy snapshot
        let has: (String) -> Bool = { snapshot.type(type, has: $0) }
        let variants = readings.withLock { $0.variants }
        if let known = variants.prepared(for: type, has: has) { return known }
        var flattener = ReaderFlattener(
            type: type, rootTypename: rootTypename, variables, symbols, names, has: has)
        for source in sources { flattener.add(source) }
        let reading = flattener.reading()
        let answers = flattener.questions.answers
        return readings.withLock { readings in
            // Another thread may have been faster; data is compared by the identity of its reading.
            if let known = readings.known[type] { return known }
            let isYes = { (key: String) in answers.contains { $0.abstractKey == key && $0.isYes } }
            if let known = readings.variants.prepared(for: type, has: isYes) { return known }
            if answers.allSatisfy(\.isYes) {
                readings.known[type] = reading
            } else {
                readings.variants.keep(reading, for: type, answers)
            }
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
            /// `__typename`: the record's type.
            case typename
            /// `__id`: the record's id.
            case dataID
            /// `@alias`: other fields of the same record; without a child, null.
            case alias
        }

        /// The name in the data, in permanent memory.
        package let name: UnsafeBufferPointer<UInt8>
        package let key: NameIndex
        package let kind: Kind
        let required: RequiredAction?
        let catchTo: CatchTarget?
        /// For a field that only the client's schema has: not missing if it is unknown.
        let isClient: Bool
        /// For a linked or plural field; the reading holds it. (Nothing in a field is reference-counted, so
        /// that looking at one costs nothing.)
        let child: Unmanaged<ReaderPlan>?
        /// The place of a linked or plural field among a node's children.
        package let childPlace: Int
    }

    /// Linked and plural fields come in the order of their places among the children.
    package let fields: ContiguousArray<Field>
    let childCount: Int
    /// The places of linked and plural fields.
    let links: ContiguousArray<Int>
    /// Kinds of leaves that are more than a value; if a row has none of them, all of its leaves are fine.
    let specialKinds: TagSet
    /// Storage keys that are read, each once: for the index of subscriptions.
    package let keys: ContiguousArray<NameIndex>
    /// The same, if there are too many for a scan.
    private let keySet: Set<NameIndex>?
    /// The fragments spread here, with their arguments' values.
    package let spreads: [String: SpreadArguments]
    package let symbols: Symbols
    private let pins: NamePins
    private let children: [ReaderPlan]
    private let rootTypename: String?

    /// - Parameter children: those that the fields refer to.
    init(
        _ fields: ContiguousArray<Field>, children: [ReaderPlan],
        spreads: [String: SpreadArguments], rootTypename: String?, symbols: Symbols,
        _ pins: NamePins
    ) {
        self.children = children
        self.rootTypename = rootTypename
        self.pins = pins
        self.fields = fields
        let names = UnsafeMutableBufferPointer<UnsafeBufferPointer<UInt8>>.allocate(
            capacity: fields.count)
        _ = names.initialize(from: fields.lazy.map(\.name))
        self.names = UnsafeBufferPointer(names)
        self.spreads = spreads
        self.symbols = symbols
        links = ContiguousArray(fields.indices.filter { fields[$0].child != nil })
        childCount = links.count
        specialKinds =
            fields.contains { $0.kind == .scalar && $0.required != nil }
            ? [TagSet(.absent), TagSet(.failed), TagSet(.null)]
            : [TagSet(.absent), TagSet(.failed)]
        let keys = Set(
            fields.lazy.filter(\.kind.isKept).map(\.key))
        self.keys = ContiguousArray(keys)
        keySet = keys.count > 24 ? keys : nil
    }

    /// The `__typename` of a record.
    func typename(_ type: NameIndex) -> String { symbols.typename(type, root: rootTypename) }

    /// Whether a storage key is read.
    @inline(__always)
    package func reads(_ key: NameIndex) -> Bool { keySet?.contains(key) ?? keys.contains(key) }

    /// The names of the fields, by their places; valid as long as the reading lives.
    let names: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>

    /// The place of the field with this name.
    /// - Parameter hint: where it probably is.
    @inline(__always)
    func place(of name: UnsafeBufferPointer<UInt8>, hint: Int) -> Int? {
        if hint < fields.count, areSame(fields[hint].name, name) { return hint }
        return fields.firstIndex { areSame($0.name, name) }
    }

    // MARK: Slots

    private let known = Atomic<Unmanaged<ReadingSlots>?>(nil)
    /// The most shapes remembered: records that keep growing have a new one each time.
    private static let knownLimit = 16

    /// Where the fields are in rows of a shape; nil if too many shapes were seen to remember this one.
    ///
    /// Lives as long as the reading.
    @inline(__always)
    func slots(of row: Row) -> Unmanaged<ReadingSlots>? {
        let shape = row.shapeIdentity
        var next = known.load(ordering: .acquiring)
        while let slots = next {
            if slots._withUnsafeGuaranteedRef({ $0.shapeIdentity == shape }) { return slots }
            next = slots._withUnsafeGuaranteedRef { $0.next }
        }
        return learnSlots(of: row.shape)
    }

    @inline(never)
    private func learnSlots(of shape: Shape) -> Unmanaged<ReadingSlots>? {
        while true {
            let first = known.load(ordering: .acquiring)
            let count = (first?._withUnsafeGuaranteedRef { $0.number } ?? 0) + 1
            if count > Self.knownLimit { return nil }
            let new = Unmanaged.passRetained(
                ReadingSlots(self, in: shape, number: count, next: first))
            let isNewest = known.compareExchange(
                expected: first, desired: new, ordering: .acquiringAndReleasing
            ).exchanged
            if isNewest { return new }
            new.release()
        }
    }

    deinit {
        names.deallocate()
        var next = known.load(ordering: .acquiring)
        while let slots = next {
            next = slots._withUnsafeGuaranteedRef { $0.next }
            slots.release()
        }
    }
}

/// Where the fields of a reading are in the rows of one shape. Immutable.
final class ReadingSlots: @unchecked Sendable {
    // Unchecked: nothing is written after the initializer.

    private let shape: Shape
    let shapeIdentity: UnsafeRawPointer
    /// The type of the shape's records.
    let typename: String
    /// By place of the field; -1 where the shape lacks it.
    let places: UnsafePointer<Int32>
    /// Whether rows have a slot for each scalar.
    let hasAllScalars: Bool
    /// How many shapes are known, including this one.
    let number: Int
    let next: Unmanaged<ReadingSlots>?

    init(
        _ reading: FlatReading, in shape: Shape, number: Int, next: Unmanaged<ReadingSlots>?
    ) {
        let fields = reading.fields
        self.shape = shape
        self.number = number
        typename = reading.typename(shape.type)
        self.next = next
        shapeIdentity = UnsafeRawPointer(Unmanaged.passUnretained(shape).toOpaque())
        let places = UnsafeMutablePointer<Int32>.allocate(capacity: fields.count)
        var hasAllScalars = true
        for (place, field) in fields.enumerated() {
            let slot = shape.slot(of: field.key).map { Int32(truncatingIfNeeded: $0) }
            if slot == nil, field.kind == .scalar { hasAllScalars = false }
            (places + place).initialize(to: slot ?? -1)
        }
        self.places = UnsafePointer(places)
        self.hasAllScalars = hasAllScalars
    }

    deinit { places.deallocate() }
}

extension FlatReading.Field.Kind {
    /// Whether a record keeps the value under a storage key.
    fileprivate var isKept: Bool {
        switch self {
        case .scalar, .linked, .plural: true
        case .typename, .dataID, .alias: false
        }
    }
}

extension Symbols {
    /// The name of a type in the schema. The store has a name of its own for the type of its root record, which is that of
    /// queries as well as of mutations.
    /// - Parameter root: what the root record's type is called where it is read.
    func typename(_ type: NameIndex, root: String?) -> String {
        let name = nameString(type)
        return name == Snapshot.rootTypeName ? root ?? name : name
    }
}
