extension ArtifactDecoder {
    /// What all fields have, in either kind of nodes.
    private struct FieldParts {
        var alias: String?
        var args: [any Argument]
        var storageKey: String?
    }

    private mutating func field(_ parts: inout Parts) throws -> FieldParts {
        FieldParts(
            alias: try optionalText(&parts), args: try arguments(&parts),
            storageKey: try optionalText(&parts))
    }

    // MARK: Reading

    mutating func readerSelection() throws -> ReaderSelection {
        if try isText() { return .scalarField(ReaderScalarField(name: try text())) }
        var parts = try begin()
        try part(&parts)
        let tag = try number()
        let selection = try readerSelection(tag, &parts)
        try end(&parts)
        return selection
    }

    private mutating func readerSelections(_ parts: inout Parts) throws -> [ReaderSelection] {
        try list(&parts) { decoder in try decoder.readerSelection() }
    }

    private mutating func readerSelection(
        _ tag: Int, _ parts: inout Parts
    ) throws -> ReaderSelection {
        switch tag {
        case 0:
            try part(&parts)
            let name = try text()
            let field = try field(&parts)
            return .scalarField(
                ReaderScalarField(
                    name: name, alias: field.alias, storageKey: field.storageKey, args: field.args,
                    required: try code(of: ArtifactFormat.requiredActions, &parts),
                    catchTo: try code(of: ArtifactFormat.catchTargets, &parts)))
        case 1:
            try part(&parts)
            let name = try text()
            let selections = try readerSelections(&parts)
            let concreteType = try optionalText(&parts)
            let plural = try flag(&parts)
            let field = try field(&parts)
            return .linkedField(
                ReaderLinkedField(
                    name: name, alias: field.alias, storageKey: field.storageKey, args: field.args,
                    concreteType: concreteType, plural: plural,
                    required: try code(of: ArtifactFormat.requiredActions, &parts),
                    catchTo: try code(of: ArtifactFormat.catchTargets, &parts),
                    selections: selections))
        case 2:
            try part(&parts)
            let name = try text()
            return .fragmentSpread(ReaderFragmentSpread(name: name, args: try arguments(&parts)))
        case 3:
            try part(&parts)
            let type = try type()
            return .inlineFragment(
                ReaderInlineFragment(
                    type: type.name, abstractKey: type.abstractKey,
                    possibleTypes: type.possibleTypes, selections: try readerSelections(&parts)))
        case 4:
            try part(&parts)
            let variable = try text()
            let selections = try readerSelections(&parts)
            return .condition(
                ReaderCondition(
                    condition: variable, passingValue: try flag(&parts), selections: selections))
        case 5:
            return .clientExtension(
                ReaderClientExtension(selections: try readerSelections(&parts)))
        case 6: return .defer(ReaderDefer(selections: try readerSelections(&parts)))
        case 7: return .stream(ReaderStream(selections: try readerSelections(&parts)))
        case 9:
            try part(&parts)
            let name = try text()
            try part(&parts)
            let type = try type()
            let fragment = ReaderInlineFragment(
                type: type.name, abstractKey: type.abstractKey, possibleTypes: type.possibleTypes,
                selections: try readerSelections(&parts))
            return .alias(ReaderAlias(name: name, fragment: fragment, isAlways: try flag(&parts)))
        default: throw unexpected("there is no selection of kind \(tag)")
        }
    }

    // MARK: Normalization

    mutating func normalizationSelection() throws -> NormalizationSelection {
        if try isText() { return .scalarField(NormalizationScalarField(name: try text())) }
        var parts = try begin()
        try part(&parts)
        let tag = try number()
        let selection = try normalizationSelection(tag, &parts)
        try end(&parts)
        return selection
    }

    private mutating func normalizationSelections(
        _ parts: inout Parts
    ) throws -> [NormalizationSelection] {
        try list(&parts) { decoder in try decoder.normalizationSelection() }
    }

    private mutating func normalizationSelection(
        _ tag: Int, _ parts: inout Parts
    ) throws -> NormalizationSelection {
        switch tag {
        case 0:
            try part(&parts)
            let name = try text()
            let field = try field(&parts)
            return .scalarField(
                NormalizationScalarField(
                    name: name, alias: field.alias, args: field.args, storageKey: field.storageKey,
                    typeInfo: try isPresent(&parts) ? try typeInfo() : nil))
        case 1:
            try part(&parts)
            let name = try text()
            let selections = try normalizationSelections(&parts)
            let concreteType = try optionalText(&parts)
            let plural = try flag(&parts)
            let field = try field(&parts)
            return .linkedField(
                NormalizationLinkedField(
                    name: name, alias: field.alias, args: field.args, storageKey: field.storageKey,
                    concreteType: concreteType, plural: plural, selections: selections))
        case 2: return .handle(try handle(&parts))
        case 3:
            try part(&parts)
            let type = try type()
            return .inlineFragment(
                NormalizationInlineFragment(
                    type: type.name, abstractKey: type.abstractKey,
                    possibleTypes: type.possibleTypes,
                    selections: try normalizationSelections(&parts)))
        case 4:
            try part(&parts)
            let variable = try text()
            let selections = try normalizationSelections(&parts)
            return .condition(
                NormalizationCondition(
                    condition: variable, passingValue: try flag(&parts), selections: selections))
        case 5:
            return .clientExtension(
                NormalizationClientExtension(selections: try normalizationSelections(&parts)))
        case 6: return .defer(try normalizationPart(&parts))
        case 7: return .stream(try normalizationPart(&parts))
        case 8:
            try part(&parts)
            let type = try text()
            return .typeDiscriminator(
                NormalizationTypeDiscriminator(
                    type: type,
                    abstractKey: try optionalText(&parts) ?? ArtifactFormat.abstractKey(type)))
        default: throw unexpected("there is no selection of kind \(tag)")
        }
    }

    private mutating func handle(_ parts: inout Parts) throws -> NormalizationHandle {
        guard let kind = try code(of: ArtifactFormat.handleKinds, &parts) else {
            throw unexpected("a handle has a kind")
        }
        try part(&parts)
        let name = try text()
        try part(&parts)
        let handle = try text()
        let key = try optionalText(&parts) ?? ""
        let alias = try optionalText(&parts)
        let args = try arguments(&parts)
        let filters =
            try isPresent(&parts) ? try elements { decoder in try decoder.text() } : nil
        return NormalizationHandle(
            kind: kind, name: name, alias: alias, args: args, handle: handle, key: key,
            filters: filters, handleArgs: try arguments(&parts))
    }

    private mutating func normalizationPart(_ parts: inout Parts) throws -> NormalizationPart {
        try part(&parts)
        let label = try text()
        let selections = try normalizationSelections(&parts)
        return NormalizationPart(
            if: try optionalText(&parts), label: label, selections: selections)
    }

    private mutating func typeInfo() throws -> SelectionTypeInfo {
        var parts = try begin()
        try part(&parts)
        let type = try text()
        let plural = try flag(&parts)
        let isNonNull = try flag(&parts)
        let values = try optionalList(&parts) { decoder in try decoder.text() }
        try end(&parts)
        return SelectionTypeInfo(
            type: type, plural: plural, nullable: !isNonNull, enumValues: values)
    }
}
