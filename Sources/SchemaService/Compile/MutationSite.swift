import GraphQLLanguage

/// One root field of the mutation type, with what all of them must have: one directive, an `input` argument
/// and a payload type.
struct MutationSite {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    let field: SchemaField
    let kind: ServiceDirective
    let directive: AppliedDirective
    let input: NamedType
    let payload: NamedType

    var schema: Schema { types.schema }

    /// Nil, and reported, if one of these is missing.
    init?(_ field: SchemaField, types: ServiceTypes, mistakes: MistakeCollector) {
        let schema = types.schema
        guard let kind = field.applied(among: ServiceDirective.mutating).first,
            let directive = field.applied(kind)
        else {
            mistakes.report(
                """
                Nothing says what mutation "\(field.name)" does. Add @create, @update, @delete, \
                @link, @unlink or @move; or register a handler for it.
                """, at: field.location)
            return nil
        }
        let name = field.name.prefix(1).uppercased() + field.name.dropFirst()
        guard field.arguments.count == 1, let argument = field.argument("input"),
            argument.type.isNonNull, argument.type.listItem == nil,
            schema[argument.namedType].kind == .inputObject
        else {
            mistakes.report(
                """
                Mutation "\(field.name)" takes one argument, its input object. Write: \
                \(field.name)(input: \(name)Input!)
                """, at: field.location)
            return nil
        }
        guard let payload = types.payload(of: field, mistakes) else { return nil }
        self.types = types
        self.mistakes = mistakes
        self.field = field
        self.kind = kind
        self.directive = AppliedDirective(
            directive: directive, types: types, mistakes: mistakes)
        input = schema[argument.namedType]
        self.payload = payload
    }

    // MARK: Input fields that name records

    /// Whether the input must name a record.
    enum Naming {
        case required
        /// It need not, and what follows from that is checked elsewhere.
        case mayBeLeftOut
        /// It means something that it does not.
        case optional

        /// As it would be written.
        fileprivate var type: String { self == .optional ? "ID" : "ID!" }
    }

    /// The input field that is named by the directive's argument and that names a record of one of these
    /// types.
    func reference(
        _ argument: String, to typeName: String, _ recordTypes: [TypeID],
        _ naming: Naming = .required
    ) -> RecordReference? {
        guard let (name, location) = directive.string(argument) else { return nil }
        return reference(named: name, at: location, to: typeName, recordTypes, naming)
    }

    /// The input field `id`.
    func subject(_ type: NamedType) -> RecordReference? {
        reference(
            named: "id", at: directive.directive.location, to: type.name, [type.id], .required)
    }

    private func reference(
        named name: String, at location: Int, to typeName: String, _ recordTypes: [TypeID],
        _ naming: Naming
    ) -> RecordReference? {
        guard let inputField = input.inputField(name) else {
            let near = nearest(name, among: input.inputFields.map(\.name))
            let advice = near.isEmpty ? " Write in it: \(name): \(naming.type)" : near
            directive.report(
                """
                Input "\(input.name)" has no field "\(name)" to name a \(typeName) with.\(advice)
                """, at: location)
            return nil
        }
        guard schema.isRecordName(inputField.type),
            naming != .required || inputField.type.isNonNull
        else {
            mistakes.report(
                """
                "\(input.name).\(name)" is \(schema.print(inputField.type)), and it must name a \
                \(typeName). Write: \(name): \(naming.type)
                """, at: inputField.location)
            return nil
        }
        return RecordReference(
            mutation: field.name, input: name, typeName: typeName, types: recordTypes,
            isOptional: !inputField.type.isNonNull)
    }

    /// The record that holds the list, or that only fills the payload.
    /// - Parameters:
    ///   - list: the list that is added to, removed from or reordered, if any.
    ///   - record: the type of the mutation's own record, if the payload shows it.
    func parent(holding list: ListField?, record: TypeID?) -> Parent {
        guard let (name, location) = directive.string("parent") else {
            if let list {
                let owner = list.owner.name
                directive.report(
                    """
                    Nothing says which \(owner) has the list "\(owner).\(list.name)". Write: parent: \
                    "\(owner.prefix(1).lowercased() + owner.dropFirst())Id"
                    """)
                return .unclear
            }
            return .none
        }
        guard let type = list?.owner ?? payloadParent(named: Self.stem(name), besides: record)
        else {
            directive.report(
                """
                Nothing says what record "\(name)" names. Give "\(payload.name)" one field of its \
                type, or leave out "parent".
                """, at: location)
            return .unclear
        }
        return reference("parent", to: type.name, [type.id], .mayBeLeftOut)
            .map(Parent.named) ?? .unclear
    }

    /// The record named by an input's `parent` field.
    enum Parent {
        case none
        case named(RecordReference)
        /// There should be one; why it cannot be determined has been reported.
        case unclear

        var reference: RecordReference? {
            if case .named(let reference) = self { reference } else { nil }
        }

        /// Whether this input field may be the one that names it.
        func mayBe(_ inputField: SchemaInputValue) -> Bool {
            switch self {
            case .none: false
            case .named(let reference): reference.input == inputField.name
            case .unclear: inputField.name.hasSuffix("Id")
            }
        }
    }

    private func payloadParent(named name: String, besides record: TypeID?) -> NamedType? {
        let records = payload.fields.filter {
            types.isStored($0.namedType) && $0.type.listItem == nil
        }
        if let named = records.first(where: { $0.name == name }) { return schema[named.namedType] }
        let others = Set(records.map(\.namedType)).subtracting(record.map { [$0] } ?? [])
        return others.count == 1 ? others.first.map { schema[$0] } : nil
    }

    /// `user` of `userId`.
    static func stem(_ input: String) -> String {
        input.hasSuffix("Id") ? String(input.dropLast(2)) : input
    }

    /// Reports meaningless input fields.
    func rejectOthers(than subjects: String..., parent: Parent) {
        for inputField in input.inputFields
        where !subjects.contains(inputField.name) && inputField.name != "clientMutationId"
            && !parent.mayBe(inputField)
        {
            mistakes.report(
                """
                @\(kind.rawValue) does nothing with "\(input.name).\(inputField.name)". Remove it.
                """, at: inputField.location)
        }
    }
}
