import GraphQLLanguage
import RelayIR

/// The Swift types of values, for one file.
struct SwiftTypes {
    let schema: Schema
    let options: GenerateOptions
    let names: ModuleNames
    /// The types of custom scalars that the code names.
    private let named = NamedTypes()

    init(schema: Schema, options: GenerateOptions, names: ModuleNames) {
        self.schema = schema
        self.options = options
        self.names = names
    }

    private final class NamedTypes {
        var all: Set<String> = []
    }

    /// The modules of the types that were named: Swift may warn about others. What begins with none of them may be in any:
    /// `Payment.Amount` is a type in a type.
    var imports: [String] {
        let names = named.all.flatMap { SwiftTypeSyntax($0)?.names ?? [$0] }
        let isInAny = names.contains { name in
            !options.imports.contains { name.hasPrefix($0 + ".") }
        }
        return options.imports.filter { module in
            isInAny || names.contains { $0.hasPrefix(module + ".") }
        }
    }

    /// The name of a leaf's or an input object's type.
    func name(_ type: NamedType) -> String {
        if let mapped = options.scalars[type.name], type.kind == .scalar {
            named.all.insert(mapped)
            return mapped
        }
        switch type.kind {
        case .enum, .inputObject: return names.type(type)
        default:
            switch type.name {
            case "String", "ID": return "String"
            case "Int": return "Int"
            case "Float": return "Double"
            case "Boolean": return "Bool"
            default: return "VariableValue"
            }
        }
    }

    /// A type without its outermost nullability: `[Int]?` for `[[Int!]]` is the element of a list.
    func present(_ type: WrappedType, _ base: String? = nil) -> String {
        switch type.nullable {
        case .named(let id): base ?? name(schema[id])
        case .list(let item): "[\(optional(item, base))]"
        case .nonNull(let inner): present(inner, base)
        }
    }

    /// A type with its nullability.
    func optional(_ type: WrappedType, _ base: String? = nil) -> String {
        present(type, base) + (type.isNonNull ? "" : "?")
    }
}

extension Schema {
    /// Enums and input objects that documents use, in the schema's order.
    func typesUsed(in documents: RelayDocuments) -> [NamedType] {
        var found: Set<TypeID> = []
        var waiting: [TypeID] = []
        func add(_ id: TypeID) {
            let kind = self[id].kind
            guard kind == .enum || kind == .inputObject, found.insert(id).inserted else { return }
            waiting.append(id)
        }
        func add(_ tree: SelectionTree) {
            for entry in tree.entries {
                switch entry {
                case .field(let field):
                    add(field.definition.namedType)
                    if let inner = field.tree { add(inner) }
                case .fragment(_, let inner), .alias(_, _, let inner), .condition(_, _, let inner):
                    add(inner)
                case .spread, .discriminator: break
                }
            }
        }
        for operation in documents.operations {
            for variable in operation.variables { add(variable.type.namedType) }
            add(operation.selections)
            if operation.definition.operation == .mutation { add(operation.completeSelections) }
        }
        for fragment in documents.fragments { add(fragment.selections) }
        while let id = waiting.popLast() {
            for field in self[id].inputFields { add(field.namedType) }
        }
        return types.filter { found.contains($0.id) }
    }
}
