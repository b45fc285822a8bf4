import RelayJSON

extension ConcreteRequest {
    /// - Throws: if the text is not that of an operation, or not of this version.
    package convenience init(decoding bytes: UnsafeRawBufferPointer) throws(ArtifactError) {
        var decoder = ArtifactDecoder(bytes)
        let request = try decoder.whole { decoder, parts in
            let kind = try decoder.code(of: ArtifactFormat.operationKinds, &parts)
            guard let kind else { throw decoder.unexpected("an operation has a kind") }
            try decoder.part(&parts)
            let reader = try decoder.reader()
            try decoder.part(&parts)
            let operation = try decoder.operation(of: reader)
            let text = try decoder.optionalText(&parts)
            let id = try decoder.optionalText(&parts)
            let name = try decoder.optionalText(&parts) ?? reader.name
            return ConcreteRequest(
                fragment: reader, operation: operation,
                params: RequestParameters(name: name, operationKind: kind, text: text, id: id))
        }
        self.init(fragment: request.fragment, operation: request.operation, params: request.params)
    }
}

extension ReaderFragment {
    /// - Throws: if the text is not that of a fragment, or not of this version.
    package convenience init(decoding bytes: UnsafeRawBufferPointer) throws(ArtifactError) {
        var decoder = ArtifactDecoder(bytes)
        let read = try decoder.whole { decoder, parts in
            try decoder.part(&parts)
            return try decoder.reader()
        }
        self.init(
            name: read.name, type: read.type, abstractKey: read.abstractKey,
            possibleTypes: read.possibleTypes, argumentDefinitions: read.argumentDefinitions,
            metadata: read.metadata, selections: read.selections)
    }
}

/// Reads the format of `ArtifactText`, without making a tree of it.
struct ArtifactDecoder {
    /// The parts of one array: once it has ended, what is left is absent.
    struct Parts {
        var isAtEnd = false
    }

    /// A type as nodes have it.
    struct TypeCondition {
        var name: String
        var abstractKey: String?
        var possibleTypes: [String] = []
    }

    private var json: JSONReader
    private var name: String?
    private var types: [TypeCondition] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        json = JSONReader(bytes, limits: ArtifactFormat.limits)
    }

    /// Reads what all texts begin with, then the rest, and checks that nothing follows.
    mutating func whole<T>(
        _ rest: (inout ArtifactDecoder, inout Parts) throws -> T
    ) throws(ArtifactError) -> T {
        do {
            var parts = try begin()
            try part(&parts)
            let version = try number()
            guard version == ArtifactFormat.version else { throw failure(.version(version)) }
            try part(&parts)
            name = try text()
            types = try optionalList(&parts) { decoder in try decoder.abstractType() }
            let value = try rest(&self, &parts)
            try end(&parts)
            try json.finish()
            return value
        } catch let error as ArtifactError {
            throw error
        } catch let error as JSONError {
            throw failure(.json(error))
        } catch {
            throw failure(.unexpected("\(error)"))
        }
    }

    // MARK: Operations and fragments

    mutating func reader() throws -> ReaderFragment {
        var parts = try begin()
        try part(&parts)
        let type = try type()
        let selections = try list(&parts) { decoder in try decoder.readerSelection() }
        let definitions = try optionalList(&parts) { decoder in try decoder.definition() }
        let metadata = try isPresent(&parts) ? try metadata() : ReaderMetadata()
        try end(&parts)
        return ReaderFragment(
            name: name ?? "", type: type.name, abstractKey: type.abstractKey,
            possibleTypes: type.possibleTypes, argumentDefinitions: definitions,
            metadata: metadata, selections: selections)
    }

    mutating func operation(of reader: ReaderFragment) throws -> NormalizationOperation {
        var parts = try begin()
        let selections = try list(&parts) { decoder in try decoder.normalizationSelection() }
        let definitions =
            try isPresent(&parts)
            ? try elements { decoder in try decoder.definition() } : reader.argumentDefinitions
        let name = try optionalText(&parts) ?? reader.name
        let nullArguments = try optionalList(&parts) { decoder in try decoder.text() }
        try end(&parts)
        return NormalizationOperation(
            name: name, argumentDefinitions: definitions, selections: selections,
            nullArguments: nullArguments)
    }

    private mutating func abstractType() throws -> TypeCondition {
        var parts = try begin()
        try part(&parts)
        var type = TypeCondition(name: try text())
        try part(&parts)
        if try json.peek() == .number {
            if try number() == 1 { type.abstractKey = ArtifactFormat.abstractKey(type.name) }
        } else {
            type.abstractKey = try text()
        }
        while try json.nextElement() { type.possibleTypes.append(try text()) }
        return type
    }

    /// A type by its name, or by its place in the table.
    mutating func type() throws -> TypeCondition {
        guard try json.peek() == .number else { return TypeCondition(name: try text()) }
        let place = try number()
        guard types.indices.contains(place) else {
            throw unexpected("there is no type \(place)")
        }
        return types[place]
    }

    private mutating func definition() throws -> ArgumentDefinition {
        guard try json.peek() == .array else { return .local(name: try text()) }
        var parts = try begin()
        try part(&parts)
        let definition: ArgumentDefinition
        if try json.peek() == .number {
            _ = try number()
            try part(&parts)
            definition = .root(name: try text())
        } else {
            let name = try text()
            try part(&parts)
            definition = .local(name: name, defaultValue: VariableValue(try json.readValue()))
        }
        try end(&parts)
        return definition
    }

    private mutating func metadata() throws -> ReaderMetadata {
        var parts = try begin()
        let plural = try flag(&parts)
        let catchTo = try code(of: ArtifactFormat.catchTargets, &parts)
        let throwOnFieldError = try flag(&parts)
        let connections = try optionalList(&parts) { decoder in try decoder.connection() }
        var refetch: RefetchDescription?
        if try isPresent(&parts) {
            var inner = try begin()
            try part(&inner)
            let operation = try text()
            let path = try list(&inner) { decoder in try decoder.text() }
            refetch = RefetchDescription(
                operation: operation, path: path, identifierField: try optionalText(&inner))
            try end(&inner)
        }
        let rootType = try optionalText(&parts)
        try end(&parts)
        return ReaderMetadata(
            plural: plural, catchTo: catchTo, throwOnFieldError: throwOnFieldError,
            connections: connections, refetch: refetch, rootType: rootType)
    }

    private mutating func connection() throws -> ConnectionMetadata {
        var parts = try begin()
        let path = try list(&parts) { decoder in try decoder.text() }
        let forward = try direction(&parts)
        let backward = try direction(&parts)
        try end(&parts)
        return ConnectionMetadata(path: path, backward: backward, forward: forward)
    }

    private mutating func direction(_ parts: inout Parts) throws -> ConnectionVariableConfig? {
        guard try isPresent(&parts) else { return nil }
        var inner = try begin()
        try part(&inner)
        let count = try text()
        try part(&inner)
        let config = ConnectionVariableConfig(count: count, cursor: try text())
        try end(&inner)
        return config
    }

    // MARK: Arguments

    mutating func arguments(_ parts: inout Parts) throws -> [any Argument] {
        try optionalList(&parts) { decoder in try decoder.argument() }
    }

    private mutating func argument() throws -> any Argument {
        guard try json.peek() == .array else {
            let name = try text()
            return VariableArgument(name: name, variableName: name)
        }
        var parts = try begin()
        try part(&parts)
        let argument: any Argument
        if try json.peek() == .string {
            let name = try text()
            try part(&parts)
            let variable = try text()
            argument = VariableArgument(
                name: name, variableName: variable, distinguishesNull: try flag(&parts))
        } else {
            let tag = try number()
            try part(&parts)
            let name = try text()
            try part(&parts)
            switch tag {
            case 0:
                let value = VariableValue(try json.readValue())
                argument = LiteralArgument(
                    name: name, value: value, distinguishesNull: try flag(&parts))
            case 1:
                argument = ListValueArgument(
                    name: name, items: try elements { decoder in try decoder.argument() })
            case 2:
                argument = ObjectValueArgument(
                    name: name, fields: try elements { decoder in try decoder.argument() })
            default: throw unexpected("there is no argument of kind \(tag)")
            }
        }
        try end(&parts)
        return argument
    }

    // MARK: Parts of arrays

    mutating func begin() throws -> Parts {
        try json.beginArray()
        return Parts()
    }

    /// Moves to the next part, which must be there.
    mutating func part(_ parts: inout Parts) throws {
        guard !parts.isAtEnd, try json.nextElement() else {
            throw unexpected("a part is missing")
        }
    }

    /// Moves to the next part; false if it is absent.
    mutating func isPresent(_ parts: inout Parts) throws -> Bool {
        guard !parts.isAtEnd else { return false }
        guard try json.nextElement() else {
            parts.isAtEnd = true
            return false
        }
        guard try json.peek() == .number else { return true }
        guard try number() == 0 else { throw unexpected("a number is not expected here") }
        return false
    }

    /// Checks that there are no more parts.
    mutating func end(_ parts: inout Parts) throws {
        if !parts.isAtEnd, try json.nextElement() { throw unexpected("there is one part more") }
    }

    mutating func list<T>(
        _ parts: inout Parts, _ element: (inout ArtifactDecoder) throws -> T
    ) throws -> [T] {
        try part(&parts)
        return try elements(element)
    }

    mutating func optionalList<T>(
        _ parts: inout Parts, _ element: (inout ArtifactDecoder) throws -> T
    ) throws -> [T] {
        try isPresent(&parts) ? try elements(element) : []
    }

    mutating func elements<T>(_ element: (inout ArtifactDecoder) throws -> T) throws -> [T] {
        try json.beginArray()
        var elements: [T] = []
        while try json.nextElement() { elements.append(try element(&self)) }
        return elements
    }

    mutating func optionalText(_ parts: inout Parts) throws -> String? {
        try isPresent(&parts) ? try text() : nil
    }

    mutating func flag(_ parts: inout Parts) throws -> Bool { try code(&parts) == 1 }

    /// The value that a code stands for; nil if it is absent.
    mutating func code<T>(of values: [T], _ parts: inout Parts) throws -> T? {
        let code = try code(&parts)
        if code == 0 { return nil }
        guard values.indices.contains(code - 1) else {
            throw unexpected("\(code) stands for nothing here")
        }
        return values[code - 1]
    }

    private mutating func code(_ parts: inout Parts) throws -> Int {
        guard !parts.isAtEnd else { return 0 }
        guard try json.nextElement() else {
            parts.isAtEnd = true
            return 0
        }
        return try number()
    }

    mutating func isText() throws -> Bool { try json.peek() == .string }

    mutating func text() throws -> String { try json.readString().string }

    /// A whole number that is not negative and not large.
    mutating func number() throws -> Int {
        guard case .int(let number) = try json.readNumber(), 0...Int64(Int32.max) ~= number else {
            throw unexpected("a small number was expected")
        }
        return Int(number)
    }

    func unexpected(_ what: String) -> ArtifactError { failure(.unexpected(what)) }

    private func failure(_ reason: ArtifactError.Reason) -> ArtifactError {
        ArtifactError(reason: reason, name: name, byteOffset: json.byteOffset)
    }
}
