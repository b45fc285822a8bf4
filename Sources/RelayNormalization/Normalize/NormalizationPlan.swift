package import RelayArtifacts
@_spi(Rooms) package import RelayRecords

/// A selection set of an operation under known variables, ready to be matched with response objects.
///
/// What is selected depends on the object's type, so there is one ``FlatSelection`` for each type seen so far. It
/// merges fragments, conditions and duplicate fields.
///
/// Only the store's writer uses plans: they grow as new types are seen.
package final class NormalizationPlan: @unchecked Sendable {
    // Unchecked: used only by the writer.

    /// What all plans of one operation share.
    final class Context {
        let variables: VariableData
        let symbols: Symbols
        let pins: NamePins

        init(variables: VariableData, symbols: Symbols) {
            self.variables = variables
            self.symbols = symbols
            pins = NamePins(symbols)
        }
    }

    let context: Context
    /// The type of all objects here, if the schema leaves no choice.
    let concreteType: NameIndex?
    /// Whether an `id` may be selected.
    private(set) var selectsID = false
    /// The response name of `node`, if this is the selection of edges whose nodes have ids.
    private(set) var edgeNode: Member?
    private let sources: [[NormalizationSelection]]
    private var hasTypeConditions = false
    private var flats: [(type: NameIndex, flat: FlatSelection)] = []
    /// For types that the compiler did not know to belong to a selected abstract type.
    private var variants = TypeVariants<FlatSelection>()

    /// The plan of a whole operation.
    package convenience init(
        _ operation: NormalizationOperation, variables: VariableData, symbols: Symbols
    ) {
        symbols.noteNullArguments(operation.nullArguments)
        self.init(
            [operation.selections], concreteType: symbols.name(Snapshot.rootTypeName),
            Context(variables: variables, symbols: symbols))
    }

    init(_ sources: [[NormalizationSelection]], concreteType: NameIndex?, _ context: Context) {
        self.context = context
        self.concreteType = concreteType
        self.sources = sources
        for source in sources { survey(source) }
    }

    /// Looks at what does not depend on the type.
    private func survey(_ selections: [NormalizationSelection]) {
        for selection in selections {
            switch selection {
            case .scalarField(let field):
                if field.responseName == "id", field.name == "id" { selectsID = true }
            case .linkedField(let field):
                // The compiler adds one that no alias and no condition keeps out of a response.
                if field.name == "node", !field.plural, Self.selectsID(field.selections),
                    edgeNode == nil || field.responseName == "node"
                {
                    edgeNode = Member(field.responseName, context)
                }
            case .inlineFragment(let fragment):
                hasTypeConditions = true
                survey(fragment.selections)
            case .condition(let condition): survey(condition.selections)
            case .defer(let part): survey(part.selections)
            case .stream(let part): survey(part.selections)
            case .typeDiscriminator: hasTypeConditions = true
            case .handle, .clientExtension: break
            }
        }
    }

    private static func selectsID(_ selections: [NormalizationSelection]) -> Bool {
        selections.contains { selection in
            switch selection {
            case .scalarField(let field): field.responseName == "id" && field.name == "id"
            case .inlineFragment(let fragment): selectsID(fragment.selections)
            case .condition(let condition): selectsID(condition.selections)
            case .defer(let part): selectsID(part.selections)
            case .stream(let part): selectsID(part.selections)
            case .linkedField, .handle, .typeDiscriminator, .clientExtension: false
            }
        }
    }

    /// What is selected on objects of a type that has been seen before.
    func known(_ type: NameIndex) -> FlatSelection? {
        for (known, flat) in flats where known == type { return flat }
        return nil
    }

    /// What is selected on a record in the store.
    @inline(__always)
    package func flat(of row: Row, in snapshot: borrowing Snapshot) -> FlatSelection {
        let type = concreteType ?? row.type
        return known(type) ?? flat(type, in: snapshot)
    }

    @inline(never)
    private func flat(_ type: NameIndex, in snapshot: borrowing Snapshot) -> FlatSelection {
        let snapshot = copy snapshot
        return flat(type) { snapshot.type(type, has: $0) }
    }

    /// What is selected on objects of a type.
    /// - Parameter has: whether the object, or the store, says that the type has an abstract one; called only for types
    ///   that the compiler did not know.
    func flat(
        _ type: NameIndex, has: @escaping (_ abstractKey: String) -> Bool
    ) -> FlatSelection {
        if let known = known(type) ?? variants.prepared(for: type, has: has) { return known }
        var flattener = Flattener(type: type, context: context, TypeQuestions(has))
        for source in sources { flattener.add(source) }
        let flat = flattener.flat()
        if flattener.questions.answers.isEmpty {
            flats.append((type, flat))
        } else {
            variants.keep(flat, for: type, flattener.questions.answers)
        }
        return flat
    }

    /// Whether nothing here links to other records, whatever the type.
    package private(set) lazy var isLeaf = !Self.hasLinks(sources)

    private static func hasLinks(_ sources: [[NormalizationSelection]]) -> Bool {
        sources.contains { selections in
            selections.contains { selection in
                switch selection {
                case .scalarField, .typeDiscriminator: false
                case .linkedField, .handle: true
                case .inlineFragment(let fragment): hasLinks([fragment.selections])
                case .condition(let condition): hasLinks([condition.selections])
                case .clientExtension(let part): hasLinks([part.selections])
                case .defer(let part): hasLinks([part.selections])
                case .stream(let part): hasLinks([part.selections])
                }
            }
        }
    }

    /// Whether an object's type must be known before its fields are.
    var needsType: Bool { concreteType == nil }
}

/// A name as it appears in a response: `"name":`, in stable memory.
struct Member {
    /// With quotes and colon.
    let quoted: UnsafeBufferPointer<UInt8>

    /// - Parameter context: must outlive every use of this.
    init(_ name: String, _ context: NormalizationPlan.Context) {
        quoted = context.symbols.nameText(context.pins.name("\"\(name)\":"))
    }

    /// Without quotes and colon.
    var name: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: quoted[1..<quoted.count - 2])
    }
}

/// What is selected on objects of one type: one field for each name in the response.
package final class FlatSelection {
    package struct Field {
        package enum Kind {
            case scalar
            case linked
            case plural
        }

        let member: Member
        package let key: NameIndex
        package let kind: Kind
        /// For a linked or plural field.
        package let child: NormalizationPlan?
    }

    let type: NameIndex
    /// Without `__typename`: the record's type gives it.
    package let fields: ContiguousArray<Field>
    /// The response name of `__typename`, if it is selected.
    let typename: Member?
    let handles: [NormalizationHandle]
    /// The indices of their fields in `fields`.
    let handlePlaces: [Int?]
    /// Abstract types reported by the object itself.
    let discriminators: [String]
    /// What handlers keep next to the fields: selected like the fields themselves.
    package let handleFields: ContiguousArray<Field>
    /// Everything that links to other records: linked fields, those of handlers and of client extensions.
    package let links: ContiguousArray<Field>
    /// Keys of fields that are selected in addition to `fields`: those of handlers and of client extensions.
    package let keysBeside: ContiguousArray<NameIndex>
    /// The shape of a record that has all fields, in order: slot i is field i. nil if the response has one field under
    /// two names: a shape has each key once.
    let shape: Shape?
    /// Fields by the bytes of their names, if a scan would take longer.
    private let places: [String: Int]?

    init(
        type: NameIndex, fields: ContiguousArray<Field>, typename: Member?,
        handles: [NormalizationHandle], discriminators: [String],
        handleFields: ContiguousArray<Field>, clientFields: ContiguousArray<Field>,
        handleKeys: ContiguousArray<NameIndex>, symbols: Symbols
    ) {
        self.type = type
        self.fields = fields
        self.typename = typename
        self.handles = handles
        handlePlaces = handles.map { handle in
            fields.firstIndex { $0.member.name.elementsEqual((handle.alias ?? handle.name).utf8) }
        }
        self.discriminators = discriminators
        self.handleFields = handleFields
        links = (fields + handleFields + clientFields).filter { $0.child != nil }
        keysBeside = handleKeys + (handleFields + clientFields).map(\.key)
        let isEachOnce = Set(fields.lazy.map(\.key)).count == fields.count
        shape =
            isEachOnce
            ? fields.reduce(symbols.shapes.root(of: type)) {
                symbols.shapes.growing($0, by: $1.key)
            } : nil
        places =
            fields.count <= 16
            ? nil
            : Dictionary(
                fields.enumerated().map { (String(decoding: $1.member.name, as: UTF8.self), $0) },
                uniquingKeysWith: { first, _ in first })
    }

    /// The field with this name in the response.
    func place(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        if let places { return places[String(decoding: name, as: UTF8.self)] }
        return fields.firstIndex {
            $0.member.name.count == name.count && $0.member.name.elementsEqual(name)
        }
    }
}

extension NormalizationPlan {
    /// The storage key of a root field, by its response name.
    package func rootKey(_ name: String, _ symbols: Symbols) -> String? {
        guard let type = concreteType else { return nil }
        let flat = flat(type) { _ in false }
        var name = name
        return name.withUTF8 { flat.place(of: $0) }.map { symbols.nameString(flat.fields[$0].key) }
    }
}
