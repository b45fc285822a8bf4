import GraphQLLanguage

/// A field as one would begin to write it: what it needs, and what of it can be read at once.
struct FieldSkeleton {
    private let schema: Schema

    /// So many fields of a type are written at most.
    private static let fieldLimit = 12

    init(_ schema: Schema) { self.schema = schema }

    /// - Returns: the text, and the place in it, in characters, where something has to be filled in; its end otherwise.
    func operation(_ operation: OperationType, _ field: SchemaField) -> (text: String, caret: Int) {
        let keyword = operation == .query ? "" : "\(operation.rawValue) "
        let text = "\(keyword){\n" + text(field).indented + "\n}"
        return (text, place(in: text))
    }

    /// A field of whatever there is already.
    func field(_ field: SchemaField) -> (text: String, caret: Int) {
        let text = text(field)
        return (text, place(in: text))
    }

    /// Into the first empty string.
    private func place(in text: String) -> Int {
        guard let range = text.firstRange(of: "\"\"") else { return text.count }
        return text.distance(from: text.startIndex, to: range.lowerBound) + 1
    }

    private func text(_ field: SchemaField) -> String {
        let arguments = field.arguments.filter(\.isRequired)
            .map { "\($0.name): \(value(of: $0.type, depth: 0))" }.joined(separator: ", ")
        let head = field.name + (arguments.isEmpty ? "" : "(\(arguments))")
        let selections = selections(of: schema[field.namedType], depth: 0)
        return selections.isEmpty ? head : "\(head) {\n" + selections.indented + "\n}"
    }

    private func selections(of type: NamedType, depth: Int) -> String {
        guard type.kind.isComposite else { return "" }
        // A connection is read by its nodes.
        if depth < 2, let edges = type.field("edges"),
            let node = schema[edges.namedType].field("node")
        {
            let inner = selections(of: schema[node.namedType], depth: depth + 1)
            let nodes = inner.isEmpty ? "node" : "node {\n" + inner.indented + "\n}"
            return "edges {\n" + nodes.indented + "\n}"
        }
        let leaves = type.fields.filter { field in
            schema[field.namedType].kind.isLeaf && field.deprecationReason == nil
                && !field.arguments.contains(where: \.isRequired)
        }
        if leaves.isEmpty, depth == 0, type.kind == .object {
            // A payload: what it holds.
            let objects = type.fields.filter { field in
                schema[field.namedType].kind.isComposite
                    && !field.arguments.contains(where: \.isRequired)
            }
            let texts = objects.prefix(Self.fieldLimit).map { field in
                "\(field.name) {\n"
                    + selections(of: schema[field.namedType], depth: depth + 1).indented + "\n}"
            }
            if !texts.isEmpty { return texts.joined(separator: "\n") }
        }
        if leaves.isEmpty { return "__typename" }
        return leaves.prefix(Self.fieldLimit).map(\.name).joined(separator: "\n")
    }

    /// Something that may stand where a value is needed.
    private func value(of type: WrappedType, depth: Int) -> String {
        if type.listItem != nil { return "[]" }
        let named = schema[type.namedType]
        switch named.kind {
        case .enum: return named.values.first?.name ?? "null"
        case .inputObject:
            guard depth < 5 else { return "{}" }
            // Of some inputs exactly one field is given.
            let needed =
                named.isOneOf
                ? Array(named.inputFields.prefix(1)) : named.inputFields.filter(\.isRequired)
            let fields = needed.map {
                "\($0.name): \(value(of: $0.type, depth: depth + 1))"
            }
            return fields.isEmpty ? "{}" : "{ \(fields.joined(separator: ", ")) }"
        default:
            switch named.name {
            case "Int": return "0"
            case "Float": return "0.0"
            case "Boolean": return "true"
            default: return "\"\""
            }
        }
    }
}

extension String {
    /// Every line two columns further to the right.
    fileprivate var indented: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 }
            .joined(separator: "\n")
    }
}
