import GraphQLLanguage
import RelayArtifacts
import RelayIR

/// What the data of one selection set has, for records of one object type or, as far as they agree, of several.
final class DataShape {
    /// Part of a selection set: a tree, and whether `@include` or `@skip` may leave it out.
    struct Source {
        var tree: SelectionTree
        var isConditional = false
    }

    /// Data for records of one object type.
    struct Variant {
        var type: NamedType
        var shape: DataShape
    }

    /// The type of the place.
    let type: NamedType
    /// In the order in which a reader reads them.
    let members: [DataMember]
    /// Fragments that stay masked, each once.
    let spreads: [DataSpread]
    /// For an abstract type, the object types that inline fragments apply to. Empty: all records have the same data.
    let variants: [Variant]

    init(
        type: NamedType, members: [DataMember], spreads: [DataSpread], variants: [Variant]
    ) {
        self.type = type
        self.members = members
        self.spreads = spreads
        self.variants = variants
    }

    /// Whether a record is left out of the data where a `@required` field of it is null.
    var bubbles: Bool {
        members.contains(where: \.bubbles) || variants.contains { $0.shape.bubbles }
    }
}

/// A field in data, or a fragment with `@alias`.
final class DataMember {
    /// Its name in the response.
    let name: String
    /// nil for an alias.
    let definition: SchemaField?
    let type: WrappedType
    /// Whether `@include` or `@skip` may leave it out.
    let isConditional: Bool
    /// Whether only the client has the field: no server gives it a value, so it is null until the program does.
    let isClient: Bool
    /// Whether it has `@required` wherever it is selected, so that no data has its null.
    let isRequired: Bool
    /// Whether its record disappears where it is null. (With THROW there is no data at all.)
    let bubbles: Bool
    /// Whether `@catch(to: NULL)` may make it null.
    let isNulled: Bool
    /// Whether `@catch(to: RESULT)` may make it an error.
    let isResult: Bool
    /// What the data behind a link has; nil for a leaf.
    let shape: DataShape?
    /// The trees that the shape was made of: two shapes of the same trees are the same.
    let trees: [SelectionTree]

    /// - Parameter directives: those of each selection. A condition may hold for one of them only, so what each has is
    ///   sure, and what one has is possible.
    init(
        name: String, definition: SchemaField?, type: WrappedType, isConditional: Bool,
        isClient: Bool = false, directives: [[Directive]], shape: DataShape?, trees: [SelectionTree]
    ) {
        self.name = name
        self.definition = definition
        self.type = type
        self.isConditional = isConditional
        self.isClient = isClient
        self.shape = shape
        self.trees = trees
        isRequired = !directives.isEmpty && directives.allSatisfy { $0.requiredAction != nil }
        bubbles = directives.contains { $0.requiredAction.map { $0 != .throw } ?? false }
        isNulled = directives.contains { $0.catchTarget == .null }
        isResult = directives.contains { $0.catchTarget == .result }
    }

    /// Whether the data has it for every record.
    var isPresent: Bool {
        if isConditional || isNulled { return false }
        return isRequired || isPresentOrFailed
    }

    /// The same for a field whose errors are caught: where there are none.
    var isPresentOrFailed: Bool { type.isNonNull && !mayBubble && !isNulled && !isClient }

    /// Whether the elements of a list are never null.
    var hasPresentElements: Bool { type.listItem?.isNonNull == true && shape?.bubbles != true }

    /// Whether a record behind the link may disappear.
    var mayBubble: Bool { type.listItem == nil && shape?.bubbles == true }

    func isSame(as other: DataMember) -> Bool {
        definition === other.definition && type == other.type
            && isConditional == other.isConditional
            && isRequired == other.isRequired && bubbles == other.bubbles
            && isNulled == other.isNulled && isResult == other.isResult
            && shape?.type.id == other.shape?.type.id
            && trees.elementsEqual(other.trees) { $0 === $1 }
    }
}

/// A fragment that is spread in data.
struct DataSpread {
    var fragment: String
    /// Whether `@include` or `@skip` may leave it out.
    var isConditional: Bool
}
