import GraphQLExecution
@_spi(Rooms) package import RelayRecords

/// Ids of new records: base64url of the type's name, a colon and 96 random bits. Opaque to clients.
package enum GlobalID {
    @Sendable
    package static func random(type: String) -> DataID {
        let random = [
            UInt32.random(in: 0 ... .max), .random(in: 0 ... .max), .random(in: 0 ... .max),
        ]
        let suffix = random.withUnsafeBytes { Base64URL.encode(Array($0)) }
        return DataID(Base64URL.encode(Array("\(type):\(suffix)".utf8)))
    }
}
