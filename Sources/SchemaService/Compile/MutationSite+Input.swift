import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

/// A ``FieldWrite`` before it is bound to a store's symbols.
struct FieldWriteDefinition: Sendable {
    let mutation: String
    let input: String
    let type: NamedType
    let key: String
    let fieldType: String
    let isNonNull: Bool
    let isUnique: Bool
    /// The record that the input names; nil if the field is not a link.
    var link: RecordReference?
    /// The records that the input names.
    var links: RecordReference?

    func write(_ types: ServiceTypes, _ symbols: Symbols) -> FieldWrite {
        let content: FieldWrite.Content =
            if let link {
                .link(link.finder(types, symbols))
            } else if let links {
                .links(links.finder(types, symbols))
            } else if isUnique {
                .unique(.init(type: symbols.name(type.name), key: symbols.name(key)))
            } else {
                .leaf
            }
        return FieldWrite(
            mutation: mutation, input: input, key: key, typeName: type.name, fieldType: fieldType,
            isNonNull: isNonNull, content: content)
    }
}

extension SchemaInputValue {
    /// Whether it may have no value, not even a default.
    fileprivate var mayBeLeftOut: Bool {
        if type.isNonNull { return false }
        guard let defaultValue else { return true }
        if case .null = defaultValue.kind { return true }
        return false
    }
}

extension MutationSite {
    /// The writes made by the input's fields.
    /// - Parameters:
    ///   - parent: its input field writes only to a new record, and only if that has a matching field:
    ///     `projectId` the link `project`.
    ///   - isNew: the record is new, so non-null fields must be given, and no `id` names it.
    func writes(
        to type: NamedType, parent: Parent, isNew: Bool
    ) -> [FieldWriteDefinition] {
        let others = isNew ? ["clientMutationId"] : ["clientMutationId", "id"]
        var writes: [FieldWriteDefinition] = []
        for inputField in input.inputFields
        where !others.contains(inputField.name) {
            if parent.mayBe(inputField), !isNew || target(of: inputField.name, in: type) == nil {
                continue
            }
            guard let write = write(inputField, to: type) else { continue }
            if let other = writes.first(where: { $0.key == write.key }) {
                mistakes.report(
                    """
                    "\(input.name).\(inputField.name)" and "\(other.input)" both write \
                    "\(type.name).\(write.key)". Remove one of them.
                    """, at: inputField.location)
                continue
            }
            if isNew, inputField.mayBeLeftOut, write.isNonNull, write.links == nil {
                mistakes.report(
                    """
                    "\(type.name).\(write.key)" is \(write.fieldType), and \
                    "\(input.name).\(inputField.name)" may be left out. Write: \
                    \(inputField.name): \(schema.print(inputField.type))!
                    """, at: inputField.location)
            }
            writes.append(write)
        }
        return writes
    }

    /// The write made by one input field; nil, and reported, if there is none.
    private func write(
        _ inputField: SchemaInputValue, to type: NamedType
    ) -> FieldWriteDefinition? {
        guard let (target, kind) = target(of: inputField.name, in: type) else {
            reportUnwritable(inputField, to: type)
            return nil
        }
        var write = FieldWriteDefinition(
            mutation: field.name, input: inputField.name, type: type, key: target.name,
            fieldType: schema.print(target.type), isNonNull: target.type.isNonNull,
            isUnique: target.applied(.unique) != nil)
        let expected: String
        switch kind {
        case .link(let linked):
            if schema.isRecordName(inputField.type) {
                write.link = reference(inputField, to: linked)
                return write
            }
            expected = "ID"
        case .links, .connection:
            if let node = kind.node, let item = inputField.type.listItem, item.isNonNull,
                schema.isRecordName(item)
            {
                write.links = reference(inputField, to: node)
                return write
            }
            expected = "[ID!]"
        default:
            if schema.canStore(inputField.type, in: target.type) { return write }
            expected = schema.print(target.type.nullable)
        }
        mistakes.report(
            """
            "\(input.name).\(inputField.name)" is \(schema.print(inputField.type)), which cannot be \
            stored in "\(type.name).\(target.name)": \(write.fieldType). Write: \
            \(inputField.name): \(expected)\(inputField.type.isNonNull ? "!" : "")
            """, at: inputField.location)
        return nil
    }

    private func reference(_ inputField: SchemaInputValue, to type: TypeID) -> RecordReference {
        RecordReference(
            mutation: field.name, input: inputField.name, typeName: schema[type].name,
            types: types.recordTypes(of: type), isOptional: !inputField.type.isNonNull)
    }

    /// The field that an input field writes: the one with its name; for `ownerId` the link `owner`; for
    /// `watcherIds` or `watchersIds` the list `watchers`.
    private func target(
        of name: String, in type: NamedType
    ) -> (field: SchemaField, kind: RecordFieldKind)? {
        for candidate in Self.targetNames(of: name) {
            guard let field = type.field(candidate), field.moment == nil,
                let kind = types.kind(of: field)
            else { continue }
            switch kind {
            case .id, .found: continue
            case .leaf where candidate != name: continue
            case .link, .links, .connection, .leaf: return (field, kind)
            }
        }
        return nil
    }

    static func targetNames(of name: String) -> [String] {
        if name.hasSuffix("Ids") {
            let stem = name.dropLast(3)
            return [name, String(stem), stem + "s"]
        }
        return name.hasSuffix("Id") ? [name, String(name.dropLast(2))] : [name]
    }

    private func reportUnwritable(_ inputField: SchemaInputValue, to type: NamedType) {
        let name = inputField.name
        let reason: String
        switch type.field(name).flatMap({ types.kind(of: $0) }) {
        case .id: reason = "is generated by the server. Remove it."
        case .leaf: reason = "is set by the server, because of @now. Remove it."
        case .found: reason = "is not stored. Remove it."
        default:
            reason =
                "is no field of \"\(type.name)\".\(nearest(name, among: writableNames(of: type)))"
        }
        mistakes.report("\"\(input.name).\(name)\" \(reason)", at: inputField.location)
    }

    /// The input names that can write the fields of a type.
    private func writableNames(of type: NamedType) -> [String] {
        type.fields.filter { $0.moment == nil }.flatMap { field -> [String] in
            switch types.kind(of: field) {
            case .leaf: [field.name]
            case .link: [field.name, field.name + "Id"]
            case .links, .connection: [field.name, field.name + "Ids"]
            case .id, .found, nil: []
            }
        }
    }
}
