/// How generated code fits into its module.
package struct GenerateOptions: Sendable {
    /// Who can see generated types.
    package enum Access: String, Sendable, CaseIterable {
        case `internal`, package, `public`

        /// What declarations begin with.
        var modifier: String { self == .internal ? "" : "\(rawValue) " }
    }

    package var access: Access
    /// Swift types for scalar types of the schema, by their names. Each is `ReadableScalar`,
    /// `VariableValueConvertible`, `Hashable` and `Sendable`. A custom scalar without one is a `VariableValue`, which
    /// holds any JSON.
    package var scalars: [String: String]
    /// Modules in which those Swift types are.
    package var imports: [String]

    package init(
        access: Access = .internal, scalars: [String: String] = [:], imports: [String] = []
    ) {
        self.access = access
        self.scalars = scalars
        self.imports = imports
    }
}
