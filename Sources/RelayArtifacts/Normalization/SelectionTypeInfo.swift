/// The type of a leaf. Kept for operations with `@relay_test_operation` only: mocks make values of it.
public struct SelectionTypeInfo: Hashable, Sendable {
    /// The name of the scalar or enum type.
    package var type: String
    /// Whether the field is a list of it.
    package var plural: Bool
    /// Whether the field may be null.
    package var nullable: Bool
    /// If it is an enum: its values, in the schema's order.
    package var enumValues: [String]

    /// A type, as the compiler writes it.
    /// - Parameters:
    ///   - type: the name of the scalar or enum type.
    ///   - plural: whether the field is a list of it.
    ///   - nullable: whether the field may be null.
    ///   - enumValues: if it is an enum.
    public init(
        type: String, plural: Bool = false, nullable: Bool = true, enumValues: [String] = []
    ) {
        self.type = type
        self.plural = plural
        self.nullable = nullable
        self.enumValues = enumValues
    }
}
