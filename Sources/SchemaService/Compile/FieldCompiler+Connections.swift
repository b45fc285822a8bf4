import GraphQLExecution
import GraphQLLanguage

// The fields of connections, edges and page information (Cursor Connections specification).

extension FieldCompiler {
    mutating func compileConnections() {
        for type in types.schema.types {
            guard let connection = types.connections[type.id] else { continue }
            if types.recordTypes(of: connection.node).isEmpty {
                let node = types.schema[connection.node].name
                mistakes.report(
                    """
                    "\(type.name)" is a connection of "\(node)", which is not stored. Write: type \
                    \(node) implements Node { id: ID! … }
                    """, at: type.locations.first ?? 0)
            }
            set(parts: [("edges", .edges, nil), ("pageInfo", .pageInfo, nil)], of: type.id)
            set(
                parts: [("node", .node, nil), ("cursor", .cursor, "String")], of: connection.edge)
            set(
                parts: [
                    ("hasNextPage", .hasNextPage, "Boolean"),
                    ("hasPreviousPage", .hasPreviousPage, "Boolean"),
                    ("startCursor", .startCursor, "String"),
                    ("endCursor", .endCursor, "String"),
                ], of: connection.pageInfo)
        }
    }

    /// - Parameter parts: name, meaning, and the required scalar, if any.
    private mutating func set(
        parts: [(name: String, part: ConnectionPart, scalar: String?)], of id: TypeID
    ) {
        let schema = types.schema
        let type = schema[id]
        for field in type.fields where !types.isComputed(field) {
            guard let part = parts.first(where: { $0.name == field.name }) else {
                mistakes.report(
                    """
                    "\(type.name).\(field.name)" cannot be filled. What can be: \
                    \(parts.map(\.name).joined(separator: ", ")). Remove it.
                    """, at: field.location)
                continue
            }
            let name = schema[field.namedType].name
            if let scalar = part.scalar, name != scalar || field.type.listItem != nil {
                mistakes.report(
                    """
                    "\(type.name).\(field.name)" is \(schema.print(field.type)). Write: \
                    \(field.name): \(scalar)\(field.type.isNonNull ? "!" : "")
                    """, at: field.typeLocation)
            }
            let meaning = part.part
            set({ _ in .connectionPart(meaning) }, for: field.name, of: id)
        }
    }
}

/// A type that looks like a connection, complete or not.
struct ConnectionShape {
    /// What it lacks, as it would be written; empty if it is complete.
    let missing: String

    /// Nil for a type that is not intended as a connection.
    init?(_ type: NamedType) {
        guard type.kind == .object,
            type.name.hasSuffix("Connection") || type.field("edges") != nil
                || type.field("pageInfo") != nil
        else { return nil }
        let base = type.name.hasSuffix("Connection") ? String(type.name.dropLast(10)) : type.name
        if type.field("edges") == nil {
            missing = "\"edges: [\(base)Edge]\""
        } else if type.field("pageInfo") == nil {
            missing = "\"pageInfo: PageInfo!\""
        } else if ConnectionShape.hasEdges(type) {
            missing = ""
        } else {
            missing = "edges of a type with \"node\" and \"cursor\""
        }
    }

    private static func hasEdges(_ type: NamedType) -> Bool {
        type.field("edges")?.type.listItem != nil
    }
}
