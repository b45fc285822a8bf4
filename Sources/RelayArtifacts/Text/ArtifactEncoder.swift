import RelayJSON

extension ConcreteRequest {
    /// The operation as generated code contains it; see ``ConcreteRequest/init(artifact:)``.
    package var artifact: String {
        var encoder = ArtifactEncoder()
        let reader = encoder.reader(fragment)
        let name = fragment.name
        let isSame = operation.argumentDefinitions == fragment.argumentDefinitions
        let written = array(
            [
                .array(encoder.selections(operation.selections)),
                isSame ? nil : .array(encoder.definitions(operation.argumentDefinitions)),
                operation.name == name ? nil : .string(operation.name),
                .list(operation.nullArguments.map { .string($0) }),
            ])
        return encoder.text(
            name,
            [
                .code(params.operationKind, of: ArtifactFormat.operationKinds), reader, written,
                .text(params.text), .text(params.id),
                params.name == name ? nil : .string(params.name),
            ])
    }
}

extension ReaderFragment {
    /// The fragment as generated code contains it; see ``ReaderFragment/init(artifact:)``.
    package var artifact: String {
        var encoder = ArtifactEncoder()
        let reader = encoder.reader(self)
        return encoder.text(name, [reader])
    }
}

/// Writes the format of `ArtifactText`.
struct ArtifactEncoder {
    /// Abstract types in the order in which nodes first name them.
    private var types: [JSONValue] = []
    private var places: [JSONValue: Int] = [:]

    /// The whole text, once all its parts are known.
    func text(_ name: String, _ parts: [JSONValue?]) -> String {
        array([.int(Int64(ArtifactFormat.version)), .string(name), .list(types)] + parts).text
    }

    // MARK: Readers

    mutating func reader(_ fragment: ReaderFragment) -> JSONValue {
        array([
            type(fragment.type, fragment.abstractKey, fragment.possibleTypes),
            .array(selections(fragment.selections)),
            .list(definitions(fragment.argumentDefinitions)), metadata(fragment.metadata),
        ])
    }

    private mutating func type(
        _ name: String, _ abstractKey: String?, _ possibleTypes: [String]
    ) -> JSONValue {
        if abstractKey == nil, possibleTypes.isEmpty { return .string(name) }
        let isUsual = abstractKey == ArtifactFormat.abstractKey(name)
        let key: JSONValue = isUsual ? 1 : .text(abstractKey) ?? 0
        let entry = JSONValue.array([.string(name), key] + possibleTypes.map { .string($0) })
        if let place = places[entry] { return .int(Int64(place)) }
        places[entry] = types.count
        types.append(entry)
        return .int(Int64(types.count - 1))
    }

    func definitions(_ definitions: [ArgumentDefinition]) -> [JSONValue] {
        definitions.map { definition in
            switch definition {
            case .local(let name, nil): .string(name)
            case .local(let name, let value?): [.string(name), value.json]
            case .root(let name): [0, .string(name)]
            }
        }
    }

    private func metadata(_ metadata: ReaderMetadata) -> JSONValue? {
        if metadata == ReaderMetadata() { return nil }
        return array([
            .flag(metadata.plural), .code(metadata.catchTo, of: ArtifactFormat.catchTargets),
            .flag(metadata.throwOnFieldError),
            .list(
                metadata.connections.map { connection in
                    array([
                        .array(connection.path.map { .string($0) }),
                        connection.forward.map { [.string($0.count), .string($0.cursor)] },
                        connection.backward.map { [.string($0.count), .string($0.cursor)] },
                    ])
                }),
            metadata.refetch.map { refetch in
                array([
                    .string(refetch.operation), .array(refetch.path.map { .string($0) }),
                    .text(refetch.identifierField),
                ])
            },
            .text(metadata.rootType),
        ])
    }

    private mutating func selections(_ selections: [ReaderSelection]) -> [JSONValue] {
        selections.map { selection($0) }
    }

    private mutating func selection(_ selection: ReaderSelection) -> JSONValue {
        switch selection {
        case .scalarField(let field):
            return leaf(
                field.name, field.alias, field.args, field.key,
                [
                    .code(field.required, of: ArtifactFormat.requiredActions),
                    .code(field.catchTo, of: ArtifactFormat.catchTargets),
                ])
        case .linkedField(let field):
            return link(
                field.name, .array(selections(field.selections)), field.concreteType, field.plural,
                field.alias, field.args, field.key,
                [
                    .code(field.required, of: ArtifactFormat.requiredActions),
                    .code(field.catchTo, of: ArtifactFormat.catchTargets),
                ])
        case .fragmentSpread(let spread):
            return array([2, .string(spread.name), .list(arguments(spread.args))])
        case .inlineFragment(let fragment):
            return [
                3, type(fragment.type, fragment.abstractKey, fragment.possibleTypes),
                .array(selections(fragment.selections)),
            ]
        case .alias(let alias):
            let fragment = alias.fragment
            return array([
                9, .string(alias.name),
                type(fragment.type, fragment.abstractKey, fragment.possibleTypes),
                .array(selections(fragment.selections)), .flag(alias.isAlways),
            ])
        case .condition(let condition):
            return array([
                4, .string(condition.condition), .array(selections(condition.selections)),
                .flag(condition.passingValue),
            ])
        case .clientExtension(let group): return [5, .array(selections(group.selections))]
        case .defer(let group): return [6, .array(selections(group.selections))]
        case .stream(let group): return [7, .array(selections(group.selections))]
        }
    }

    // MARK: Normalization

    mutating func selections(_ selections: [NormalizationSelection]) -> [JSONValue] {
        selections.map { selection($0) }
    }

    private mutating func selection(_ selection: NormalizationSelection) -> JSONValue {
        switch selection {
        case .scalarField(let field):
            return leaf(
                field.name, field.alias, field.args, field.key, [field.typeInfo.map(typeInfo)])
        case .linkedField(let field):
            return link(
                field.name, .array(selections(field.selections)), field.concreteType, field.plural,
                field.alias, field.args, field.key, [])
        case .handle(let handle):
            return array([
                2, .code(handle.kind, of: ArtifactFormat.handleKinds), .string(handle.name),
                .string(handle.handle), handle.key.isEmpty ? nil : .string(handle.key),
                .text(handle.alias), .list(arguments(handle.args)),
                handle.filters.map { .array($0.map { .string($0) }) },
                .list(arguments(handle.handleArgs)),
            ])
        case .inlineFragment(let fragment):
            return [
                3, type(fragment.type, fragment.abstractKey, fragment.possibleTypes),
                .array(selections(fragment.selections)),
            ]
        case .condition(let condition):
            return array([
                4, .string(condition.condition), .array(selections(condition.selections)),
                .flag(condition.passingValue),
            ])
        case .clientExtension(let group): return [5, .array(selections(group.selections))]
        case .defer(let part): return self.part(6, part)
        case .stream(let part): return self.part(7, part)
        case .typeDiscriminator(let type):
            let isUsual = type.abstractKey == ArtifactFormat.abstractKey(type.type)
            return array([8, .string(type.type), isUsual ? nil : .string(type.abstractKey)])
        }
    }

    private mutating func part(_ tag: Int64, _ part: NormalizationPart) -> JSONValue {
        array([
            .int(tag), .string(part.label), .array(selections(part.selections)), .text(part.if),
        ])
    }

    private func typeInfo(_ info: SelectionTypeInfo) -> JSONValue {
        array([
            .string(info.type), .flag(info.plural), .flag(!info.nullable),
            .list(info.enumValues.map { .string($0) }),
        ])
    }

    // MARK: Fields and arguments

    private func leaf(
        _ name: String, _ alias: String?, _ args: [any Argument], _ key: StorageKey,
        _ more: [JSONValue?]
    ) -> JSONValue {
        let own = self.key(key, name, args)
        if alias == nil, args.isEmpty, own == nil, more.allSatisfy({ $0 == nil }) {
            return .string(name)
        }
        return array([0, .string(name), .text(alias), .list(arguments(args)), own] + more)
    }

    private func link(
        _ name: String, _ selections: JSONValue, _ concreteType: String?, _ plural: Bool,
        _ alias: String?, _ args: [any Argument], _ key: StorageKey, _ more: [JSONValue?]
    ) -> JSONValue {
        array(
            [
                1, .string(name), selections, .text(concreteType), .flag(plural), .text(alias),
                .list(arguments(args)), self.key(key, name, args),
            ] + more)
    }

    /// nil if it follows from the field.
    private func key(_ key: StorageKey, _ name: String, _ args: [any Argument]) -> JSONValue? {
        let usual = StorageKey(name: name, arguments: args).constant
        return key.constant == usual ? nil : .text(key.constant)
    }

    func arguments(_ arguments: [any Argument]) -> [JSONValue] { arguments.map(argument) }

    private func argument(_ argument: any Argument) -> JSONValue {
        let name = JSONValue.string(argument.name)
        switch argument {
        case let argument as VariableArgument:
            if argument.name == argument.variableName, !argument.distinguishesNull { return name }
            return array([name, .string(argument.variableName), .flag(argument.distinguishesNull)])
        case let argument as LiteralArgument:
            return array([0, name, argument.value.json, .flag(argument.distinguishesNull)])
        case let argument as ListValueArgument:
            return [1, name, .array(arguments(argument.items))]
        case let argument as ObjectValueArgument:
            return [2, name, .array(arguments(argument.fields))]
        default:
            // The compiler makes no others.
            preconditionFailure(
                "An argument of type \(Swift.type(of: argument)) cannot be encoded.")
        }
    }
}

/// Those at the end that are absent are left out, the others are 0.
private func array(_ parts: [JSONValue?]) -> JSONValue {
    let count = (parts.lastIndex { $0 != nil } ?? -1) + 1
    return .array(parts.prefix(count).map { $0 ?? 0 })
}

extension JSONValue {
    /// nil for no text.
    fileprivate static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    /// nil for an empty list.
    fileprivate static func list(_ list: [JSONValue]) -> JSONValue? {
        list.isEmpty ? nil : .array(list)
    }

    /// nil for false.
    fileprivate static func flag(_ flag: Bool) -> JSONValue? { flag ? 1 : nil }

    /// The place of a value among all there are, from 1.
    fileprivate static func code<T: Equatable>(_ value: T?, of values: [T]) -> JSONValue? {
        value.flatMap { values.firstIndex(of: $0) }.map { .int(Int64($0 + 1)) }
    }
}
