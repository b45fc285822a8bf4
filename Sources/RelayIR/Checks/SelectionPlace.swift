import GraphQLLanguage

/// A place in a definition whose selections are read together: all that are reached by the same response names and
/// type conditions.
final class SelectionPlace {
    /// The kind of operation; nil in a fragment.
    let operation: OperationType?
    /// The type of the records here.
    let type: NamedType
    /// The field that leads here; nil for a definition's own selections, and where an alias does.
    let field: TypedField?
    /// What the data of the records here has, and of the same records under other type conditions.
    let data: DataNames
    /// The place of the same records without type conditions; nil if this is it.
    private let unconditional: SelectionPlace?
    /// The type conditions of this place.
    private let conditions: Set<TypeID>
    private var inner: [String: SelectionPlace] = [:]
    /// The fields, by response name, as they came first.
    var fields: [String: TypedField] = [:]
    /// The names of fragments that are spread here with `@relay(mask: false)`.
    var unmasked: Set<String> = []

    init(
        operation: OperationType?, type: NamedType, field: TypedField? = nil,
        data: DataNames = DataNames(), unconditional: SelectionPlace? = nil,
        conditions: Set<TypeID> = []
    ) {
        self.unconditional = unconditional
        self.conditions = conditions
        self.operation = operation
        self.type = type
        self.field = field
        self.data = data
    }

    func inside(_ field: TypedField) -> SelectionPlace {
        place(field.responseName) {
            SelectionPlace(operation: operation, type: field.type, field: field)
        }
    }

    func inside(
        _ fragment: TypedInlineFragment, alias: String?, _ schema: Schema
    ) -> SelectionPlace {
        if let alias {
            return place("@" + alias) {
                SelectionPlace(operation: operation, type: fragment.type)
            }
        }
        return fragment.condition.map { inside($0, schema) } ?? self
    }

    /// The same records, as far as they are of a type. Conditions that are asked for already lead nowhere new, or
    /// documents with fragments in fragments would have exponentially many places.
    func inside(_ type: NamedType, _ schema: Schema) -> SelectionPlace {
        let all = unconditional ?? self
        if type.id == self.type.id || type.id == all.type.id || conditions.contains(type.id) {
            return self
        }
        let conditions = conditions.union([type.id])
        // Of conditions that say more or less the same, the one that says more.
        let type = schema.isSubType(self.type.id, of: type.id) ? self.type : type
        let key = conditions.map(\.index).sorted().map { "\($0)" }.joined(separator: " ")
        return all.place("..." + key) {
            SelectionPlace(
                operation: operation, type: type, field: field, data: data, unconditional: all,
                conditions: conditions)
        }
    }

    private func place(_ key: String, _ new: () -> SelectionPlace) -> SelectionPlace {
        if let place = inner[key] { return place }
        let place = new()
        inner[key] = place
        return place
    }
}

/// The names in the data of one record, whatever its type.
final class DataNames {
    /// Where a name stands for something.
    struct Use {
        /// The records that have it are of this type.
        let type: NamedType
        let location: Int
        /// Of a spread, the arguments.
        var arguments = ""
    }

    /// Of fields, by response name.
    var fields = Uses()
    /// Of fragments with `@alias`.
    var aliases = Uses()
    /// Of fragments that stay masked and have no alias.
    var spreads = Uses()

    struct Uses {
        private var uses: [String: [Use]] = [:]

        mutating func add(_ name: String, _ use: Use) {
            // Of a name that is used again in the same way one use is enough.
            let isKnown = uses[name]?.contains {
                $0.type.id == use.type.id && $0.arguments == use.arguments
            }
            if isKnown != true { uses[name, default: []].append(use) }
        }

        /// The first use of a name in records that may be of a type.
        func first(
            _ name: String, on type: NamedType, _ schema: Schema,
            where condition: (Use) -> Bool = { _ in true }
        ) -> Use? {
            uses[name]?.first { schema.overlap($0.type.id, type.id) && condition($0) }
        }
    }
}
