import RelayJSON

/// What a project says about its compilation: the contents of `relay.json`.
///
///     {"schema": "schema.graphql", "scalars": {"DateTime": "Date"}, "imports": ["Foundation"], "access": "public"}
package struct Configuration: Sendable, Hashable {
    /// Files with the server's schema; relative to the file.
    package var schema: [String] = []
    /// Files with what only clients know: extensions of the server's types, and types of their own.
    package var client: [String] = []
    /// Swift types for scalar types of the schema.
    package var scalars: [String: String] = [:]
    /// Modules in which those Swift types are.
    package var imports: [String] = []
    package var access: GenerateOptions.Access?

    package init() {}

    /// Why a file is no configuration, in one sentence.
    package struct Mistake: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter bytes: JSON text.
    package init(parsing bytes: [UInt8]) throws(Mistake) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Mistake(description: error.description)
        }
        guard let members = value.object else {
            throw Mistake(description: "It must be a JSON object, such as {\"schema\": \"FILE\"}.")
        }
        for (name, value) in members {
            switch name {
            case "schema": schema = try Self.texts(name, value)
            case "client": client = try Self.texts(name, value)
            case "imports": imports = try Self.texts(name, value)
            case "scalars": scalars = try Self.scalars(value)
            case "access":
                guard let access = value.string.flatMap(GenerateOptions.Access.init) else {
                    throw Mistake(
                        description: "\"access\" must be \"internal\", \"package\" or \"public\".")
                }
                self.access = access
            default:
                throw Mistake(
                    description: "It has an unknown member \"\(name)\". There are \"schema\", "
                        + "\"client\", \"scalars\", \"imports\" and \"access\".")
            }
        }
    }

    /// One text, or a list of texts.
    private static func texts(_ name: String, _ value: JSONValue) throws(Mistake) -> [String] {
        if let text = value.string { return [text] }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else {
            throw Mistake(description: "\"\(name)\" must be a string, or a list of strings.")
        }
        return texts
    }

    private static func scalars(_ value: JSONValue) throws(Mistake) -> [String: String] {
        var scalars: [String: String] = [:]
        for (name, type) in value.object ?? [:] { scalars[name] = type.string }
        guard let object = value.object, scalars.count == object.count else {
            throw Mistake(
                description: "\"scalars\" must be an object from scalar types to Swift types.")
        }
        return scalars
    }
}
