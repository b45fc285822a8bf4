import GraphQLExecution
import GraphQLLanguage

// What each field of a payload type is filled with, inferred from its type.

extension MutationSite {
    func parts(filledFrom plan: MutationPlan) -> [(name: String, part: PayloadPart)] {
        payload.fields.filter { !types.isComputed($0) }.compactMap { field in
            guard field.arguments.isEmpty, let part = part(of: field, plan) else {
                mistakes.report(
                    """
                    "\(payload.name).\(field.name)" cannot be filled by @\(kind.rawValue). What can \
                    be: \(fillable(plan).joined(separator: ", ")).
                    """, at: field.location)
                return nil
            }
            if field.type.isNonNull, let reason = reasonForNull(part, plan) {
                mistakes.report(
                    """
                    "\(payload.name).\(field.name)" can be null: \(reason). Write: \(field.name): \
                    \(schema.print(field.type.nullable))
                    """, at: field.typeLocation)
            }
            return (field.name, part)
        }
    }

    private func part(of field: SchemaField, _ plan: MutationPlan) -> PayloadPart? {
        guard field.type.listItem == nil else { return nil }
        let type = field.namedType
        switch schema[type].name {
        case "String" where field.name == "clientMutationId": return .clientMutationID
        case "ID" where field.name.hasPrefix("deleted") && kind == .delete: return .deletedID
        default: break
        }
        if type == plan.edge { return .edge }
        let isRecord = plan.record.map { schema.isSubType($0, of: type) } ?? false
        let isParent = plan.parent?.types.contains { schema.isSubType($0, of: type) } ?? false
        switch (isRecord, isParent) {
        case (true, true):
            // Both have this type: the parent is the field named like its input field.
            return field.name == plan.parent.map { Self.stem($0.input) } ? .parent : .record
        case (true, false): return .record
        case (false, true): return .parent
        case (false, false): return nil
        }
    }

    /// Why a part may be null; nil if it never is.
    private func reasonForNull(_ part: PayloadPart, _ plan: MutationPlan) -> String? {
        switch part {
        case .record, .deletedID:
            return nil
        case .edge where !plan.hasEdge:
            return "the record has no edge any more"
        case .edge where plan.list.map(hasRule) ?? false:
            return "not everybody may read the list"
        case .edge, .parent:
            guard let parent = plan.parent, parent.isOptional else { return nil }
            return "\"\(input.name).\(parent.input)\" may be left out"
        case .clientMutationID:
            if input.inputField("clientMutationId")?.type.isNonNull ?? false { return nil }
            return "the client may leave it out of its input"
        }
    }

    private func hasRule(_ list: ListField) -> Bool {
        list.owner.field(list.name)?.directives.named("access") != nil
    }

    /// Everything that a payload of this mutation can contain, as it would be written.
    private func fillable(_ plan: MutationPlan) -> [String] {
        var fields: [String] = []
        func add(_ type: String) {
            fields.append("\(type.prefix(1).lowercased() + type.dropFirst()): \(type)")
        }
        if let record = plan.record { add(schema[record].name) }
        if let edge = plan.edge { add(schema[edge].name) }
        if let parent = plan.parent { add(parent.typeName) }
        if kind == .delete { fields.append("deletedId: ID!") }
        return fields + ["clientMutationId: String"]
    }
}
