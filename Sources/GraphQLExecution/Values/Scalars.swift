import RelayJSON

/// The scalars of the specification (GraphQL §3.5); a custom scalar accepts any JSON.
enum Scalars {
    struct Mismatch: Error {
        let message: String
    }

    /// A JSON value as a value of a scalar type, or why it is not one; graphql-js's texts.
    static func coerceInput(_ value: JSONValue, _ type: String) -> Result<JSONValue, Mismatch> {
        switch (type, value) {
        case ("Int", .int(let number)):
            return Int32(exactly: number) != nil ? .success(value) : intTooLarge(value)
        case ("Int", .double(let number)):
            guard let whole = Int64(exactly: number) else {
                return mismatch("Int cannot represent non-integer value: \(value.described)")
            }
            return Int32(exactly: whole) != nil ? .success(.int(whole)) : intTooLarge(value)
        case ("Int", _):
            return mismatch("Int cannot represent non-integer value: \(value.described)")
        case ("Float", .int(let number)):
            return .success(.double(Double(number)))
        case ("Float", .double(let number)) where number.isFinite:
            return .success(value)
        case ("Float", _):
            return mismatch("Float cannot represent non numeric value: \(value.described)")
        case ("String", .string), ("Boolean", .bool), ("ID", .string):
            return .success(value)
        case ("ID", .int(let number)):
            return .success(.string(String(number)))
        case ("String", _):
            return mismatch("String cannot represent a non string value: \(value.described)")
        case ("Boolean", _):
            return mismatch("Boolean cannot represent a non boolean value: \(value.described)")
        case ("ID", _):
            return mismatch("ID cannot represent value: \(value.described)")
        default:
            if value.isFinite { return .success(value) }
            return mismatch("\(type) cannot represent value: \(value.described)")
        }
    }

    private static func mismatch(_ message: String) -> Result<JSONValue, Mismatch> {
        .failure(Mismatch(message: message))
    }

    private static func intTooLarge(_ value: JSONValue) -> Result<JSONValue, Mismatch> {
        mismatch("Int cannot represent non 32-bit signed integer value: \(value.described)")
    }
}
