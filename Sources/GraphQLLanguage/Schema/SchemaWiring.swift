/// Turns definitions into parts of a schema, names into ids.
struct SchemaWiring {
    let ids: [String: TypeID]

    func type(
        _ definition: TypeSystemDocument.Definition<TypeDefinition>, id: TypeID,
        extensions: [TypeDefinition]
    ) -> NamedType {
        let node = definition.node
        let parts = [node] + extensions.filter { $0.kind == node.kind }
        return NamedType(
            id: id, name: node.name.value, kind: node.kind, origin: definition.origin,
            description: node.description?.value,
            directives: parts.flatMap(\.directives), locations: parts.map(\.location),
            fields: parts.flatMap(\.fieldDefinitions).uniqued(by: \.name.value).map(field),
            interfaces: parts.flatMap(\.interfaceNames).compactMap { ids[$0.value] },
            members: parts.flatMap(\.memberNames).compactMap { ids[$0.value] },
            values: parts.flatMap(\.valueDefinitions).uniqued(by: \.name.value).map(value),
            inputFields: parts.flatMap(\.inputFieldDefinitions).uniqued(by: \.name.value)
                .compactMap(inputValue))
    }

    func directive(_ node: DirectiveDefinition, origin: Origin) -> SchemaDirective {
        SchemaDirective(
            name: node.name.value, origin: origin, description: node.description?.value,
            arguments: node.arguments.uniqued(by: \.name.value).compactMap(inputValue),
            isRepeatable: node.isRepeatable, locations: node.locations, location: node.location)
    }

    private func field(_ node: FieldDefinition) -> SchemaField {
        SchemaField(
            name: node.name.value, description: node.description?.value,
            arguments: node.arguments.uniqued(by: \.name.value).compactMap(inputValue),
            type: wrapped(node.type), directives: node.directives, location: node.location,
            typeLocation: node.type.location)
    }

    private func inputValue(_ node: InputValueDefinition) -> SchemaInputValue {
        SchemaInputValue(
            name: node.name.value, description: node.description?.value,
            type: wrapped(node.type), defaultValue: node.defaultValue,
            directives: node.directives, location: node.location,
            typeLocation: node.type.location)
    }

    private func value(_ node: EnumValueDefinition) -> SchemaEnumValue {
        SchemaEnumValue(
            name: node.name.value, description: node.description?.value,
            directives: node.directives, location: node.location)
    }

    private func wrapped(_ reference: TypeReference) -> WrappedType {
        switch reference {
        case .named(let name):
            guard let id = ids[name.value] else {
                preconditionFailure("Type \(name.value) is mentioned but has no id.")
            }
            return .named(id)
        case .list(let inner, _): return .list(wrapped(inner))
        case .nonNull(let inner): return .nonNull(wrapped(inner))
        }
    }
}

extension Array {
    /// The first element of each name.
    fileprivate func uniqued(by name: (Element) -> String) -> [Element] {
        var seen: Set<String> = []
        return filter { seen.insert(name($0)).inserted }
    }
}
