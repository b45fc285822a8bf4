/// Determines which types clients do not see: those of predefined documents, unless something that
/// clients do see uses them.
struct HiddenTypes: Sendable {
    private var isVisible: [Bool]

    init(_ types: [NamedType], _ directives: [SchemaDirective]) {
        isVisible = types.map { $0.origin != .predefined }
        var pending = types.filter { $0.origin == .document }.map(\.id)
        for directive in directives where !directive.isHidden {
            for argument in directive.arguments { reveal(argument.namedType, &pending) }
        }
        while let id = pending.popLast() {
            let type = types[id.index]
            for id in type.interfaces + type.members { reveal(id, &pending) }
            for field in type.fields {
                reveal(field.namedType, &pending)
                for argument in field.arguments { reveal(argument.namedType, &pending) }
            }
            for field in type.inputFields { reveal(field.namedType, &pending) }
        }
    }

    func contains(_ id: TypeID) -> Bool { !isVisible[id.index] }

    private mutating func reveal(_ id: TypeID, _ pending: inout [TypeID]) {
        if isVisible[id.index] { return }
        isVisible[id.index] = true
        pending.append(id)
    }
}
