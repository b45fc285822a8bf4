import GraphQLLanguage
import RelayIR

/// Makes shapes of selection trees: conditions become optional, inline fragments become part of the types that they
/// apply to, and several selections of one field become one.
struct ShapeBuilder {
    let schema: Schema
    /// Whether fields that the compiler has added count: those by which records are identified.
    var isComplete = false
    private let known = KnownShapes()

    func shape(of tree: SelectionTree) -> DataShape { shape(of: [DataShape.Source(tree: tree)]) }

    private func shape(of sources: [DataShape.Source]) -> DataShape {
        let parts = sources.map(KnownShapes.Part.init)
        if let shape = known.shapes[parts] { return shape }
        let shape = newShape(of: sources)
        known.shapes[parts] = shape
        return shape
    }

    private func newShape(of sources: [DataShape.Source]) -> DataShape {
        let type = narrowest(sources.map(\.tree.type))
        if type.kind == .object { return shape(of: sources, place: type, object: type) }
        var objects: [NamedType] = []
        for source in sources { collectObjects(of: source.tree, within: type, &objects) }
        return shape(
            of: sources, place: type, object: nil,
            variants: objects.map { object in
                DataShape.Variant(
                    type: object, shape: shape(of: sources, place: object, object: object))
            })
    }

    private func shape(
        of sources: [DataShape.Source], place: NamedType, object: NamedType?,
        variants: [DataShape.Variant] = []
    ) -> DataShape {
        var found = Found()
        for source in sources { collect(source, object, &found) }
        return DataShape(
            type: place,
            members: (found.names + found.aliases).compactMap { found.fields[$0] }.map {
                member($0, added: $0.isAlias ? nil : found.added[$0.name])
            },
            spreads: found.spreadNames.map {
                DataSpread(fragment: $0, isConditional: found.spreads[$0] ?? false)
            },
            variants: variants)
    }

    /// An object type if there is one: of a field that an object type declares with a narrower type than its interface.
    private func narrowest(_ types: [NamedType]) -> NamedType {
        types.reduce(types[0]) { schema.isSubType($1.id, of: $0.id) ? $1 : $0 }
    }

    // MARK: Object types

    private func collectObjects(
        of tree: SelectionTree, within place: NamedType, _ objects: inout [NamedType]
    ) {
        for entry in tree.entries {
            switch entry {
            case .fragment(let type, let inner):
                let possible =
                    type.kind == .object ? [type.id] : schema.possibleTypes(of: type.id)
                for id in possible where schema.isSubType(id, of: place.id) {
                    if !objects.contains(where: { $0.id == id }) { objects.append(schema[id]) }
                }
                collectObjects(of: inner, within: place, &objects)
            case .condition(_, _, let inner): collectObjects(of: inner, within: place, &objects)
            case .field, .alias, .spread, .discriminator: break
            }
        }
    }

    // MARK: Fields

    /// One field in all places where it is selected, or one alias.
    private struct FoundField {
        struct Occurrence {
            /// nil for an alias.
            var field: SelectedField?
            var tree: SelectionTree?
            var isConditional: Bool
        }

        var name: String
        /// Whether an alias applies to all records here.
        var isAlways = false
        var occurrences: [Occurrence] = []
        var isAlias: Bool { occurrences[0].field == nil }
    }

    private struct Found {
        var names: [String] = []
        var fields: [String: FoundField] = [:]
        /// Readers have them after the fields.
        var aliases: [String] = []
        /// What the compiler selects of fields that it has added, without a condition; nothing of leaves.
        var added: [String: [DataShape.Source]] = [:]
        var spreadNames: [String] = []
        /// Whether it is conditional.
        var spreads: [String: Bool] = [:]

        mutating func add(_ name: String, _ occurrence: FoundField.Occurrence) {
            if fields[name] == nil {
                if occurrence.field == nil { aliases.append(name) } else { names.append(name) }
                fields[name] = FoundField(name: name)
            }
            fields[name]?.occurrences.append(occurrence)
        }
    }

    private func collect(
        _ source: DataShape.Source, _ object: NamedType?, _ found: inout Found
    ) {
        for entry in source.tree.entries {
            switch entry {
            case .field(let field):
                guard isSelected(field) else {
                    found.added[field.responseName, default: []] +=
                        field.tree.map { [DataShape.Source(tree: $0)] } ?? []
                    continue
                }
                found.add(
                    field.responseName,
                    .init(field: field, tree: field.tree, isConditional: source.isConditional))
            case .alias(let name, let type, let inner):
                found.add(name, .init(tree: inner, isConditional: source.isConditional))
                let place = object ?? source.tree.type
                if schema.isSubType(place.id, of: type.id) { found.fields[name]?.isAlways = true }
            case .fragment(let type, let inner):
                guard let object, schema.isSubType(object.id, of: type.id) else { continue }
                collect(
                    DataShape.Source(tree: inner, isConditional: source.isConditional), object,
                    &found)
            case .condition(_, _, let inner):
                collect(DataShape.Source(tree: inner, isConditional: true), object, &found)
            case .spread(let spread):
                let name = spread.fragment.name.value
                if found.spreads[name] == nil { found.spreadNames.append(name) }
                found.spreads[name] = source.isConditional && found.spreads[name] ?? true
            case .discriminator: break
            }
        }
    }

    private func isSelected(_ field: SelectedField) -> Bool {
        field.isWritten || isComplete && ["id", "node", "__typename"].contains(field.name)
    }

    /// - Parameter added: what the compiler selects of the field, if it does so, too: then the field is there under no
    ///   condition, and so is what is in it, all the way down.
    private func member(_ found: FoundField, added: [DataShape.Source]?) -> DataMember {
        let isConditional = found.occurrences.allSatisfy(\.isConditional)
        // What is selected under a condition is there whenever the field is, unless it is selected elsewhere, too.
        let isAlone = found.occurrences.count == 1 && added == nil
        let written = found.occurrences.compactMap { occurrence in
            occurrence.tree.map {
                DataShape.Source(
                    tree: $0, isConditional: occurrence.isConditional && !isAlone)
            }
        }
        let sources = written + (added ?? [])
        let inner = sources.isEmpty ? nil : shape(of: sources)
        guard let first = found.occurrences[0].field else {
            // An alias is of the type that its selections are of.
            let type = WrappedType.named((inner?.type ?? schema.types[0]).id)
            return DataMember(
                name: found.name, definition: nil, type: found.isAlways ? .nonNull(type) : type,
                isConditional: isConditional, directives: [], shape: inner,
                trees: sources.map(\.tree))
        }
        return DataMember(
            name: found.name, definition: first.definition, type: first.definition.type,
            isConditional: isConditional,
            isClient: !["__id", "id"].contains(first.name) && schema.isClient(first),
            directives: found.occurrences.map { $0.field?.directives ?? [] }, shape: inner,
            trees: sources.map(\.tree))
    }
}

/// The shapes made so far. Of an abstract type, each object type has the same fields once more, and so has what is
/// in them: there would be exponentially many.
private final class KnownShapes {
    var shapes: [[Part]: DataShape] = [:]

    struct Part: Hashable {
        let source: DataShape.Source

        init(_ source: DataShape.Source) { self.source = source }

        static func == (left: Part, right: Part) -> Bool {
            left.source.tree === right.source.tree
                && left.source.isConditional == right.source.isConditional
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(source.tree))
            hasher.combine(source.isConditional)
        }
    }
}
