import RelayJSON

/// Reads keys in JSON (RFC 7517; members by type: RFC 7518 §6, RFC 8037 §2).
enum JWKReader {
    static func keys(in bytes: [UInt8]) throws(KeySetError) -> [ParsedKey] {
        let document: JSONObject
        do { document = try StrictJSON.object(bytes) } catch {
            switch error {
            case .syntax(let error): throw .invalidJSON(error)
            case .duplicateMember(let name): throw .duplicateMember(name)
            case .notAnObject: throw .unknownForm
            }
        }
        if document["keys"] == nil, document["kty"] != nil { return [key(.object(document))] }
        guard let values = document["keys"]?.array else { throw .unknownForm }
        guard values.count <= KeySet.countLimit else { throw .tooMany(values.count) }
        return values.map(key)
    }

    private static func key(_ value: JSONValue) -> ParsedKey {
        let members = value.object ?? [:]
        let id = members["kid"]?.string
        return ParsedKey(id: id) { () throws(KeyRefusal) in
            guard value.object != nil else { throw .notAnObject }
            if members["kid"] != nil, id == nil { throw .malformed(member: "kid") }
            try checkPurpose(of: members)
            return try key(id: id, members)
        }
    }

    /// RFC 7517 §4.2, §4.3: what the key is meant for, if it says so.
    private static func checkPurpose(of members: JSONObject) throws(KeyRefusal) {
        if let use = members["use"], use != "sig" { throw .notForVerifying }
        if let operations = members["key_ops"] {
            guard let operations = operations.array else { throw .malformed(member: "key_ops") }
            guard operations.contains("verify") else { throw .notForVerifying }
        }
    }

    private static func key(
        id: String?, _ members: JSONObject
    ) throws(KeyRefusal) -> VerificationKey {
        let kind = members["kty"]?.string
        switch kind {
        case "oct":
            try checkAlgorithm(.hs256, of: members)
            return try .hmac(id: id, secret: bytes("k", of: members))
        case "RSA":
            try checkAlgorithm(.rs256, of: members)
            try refusePrivate(members)
            return try .rsa(
                id: id, modulus: bytes("n", of: members), exponent: bytes("e", of: members))
        case "EC":
            try checkCurve("P-256", of: members)
            try checkAlgorithm(.es256, of: members)
            try refusePrivate(members)
            let x = try bytes("x", of: members, count: 32)
            let y = try bytes("y", of: members, count: 32)
            return try .p256(id: id, point: [4] + x + y)
        case "OKP":
            try checkCurve("Ed25519", of: members)
            try checkAlgorithm(.edDSA, of: members)
            try refusePrivate(members)
            return try .ed25519(id: id, point: bytes("x", of: members, count: 32))
        default:
            throw .unknownKind(kind)
        }
    }

    /// RFC 7517 §4.4. A key without `alg` is for the one algorithm of its type.
    private static func checkAlgorithm(
        _ algorithm: TokenAlgorithm, of members: JSONObject
    ) throws(KeyRefusal) {
        guard let value = members["alg"] else { return }
        guard let name = value.string else { throw .malformed(member: "alg") }
        guard name.isSame(as: algorithm.rawValue) else { throw .otherAlgorithm(name) }
    }

    private static func checkCurve(_ name: String, of members: JSONObject) throws(KeyRefusal) {
        guard let curve = members["crv"] else { throw .missing(member: "crv") }
        guard curve == .string(name) else { throw .otherCurve(curve.string) }
    }

    private static func refusePrivate(_ members: JSONObject) throws(KeyRefusal) {
        if members["d"] != nil { throw .privateKey }
    }

    private static func bytes(
        _ name: String, of members: JSONObject, count: Int? = nil
    ) throws(KeyRefusal) -> [UInt8] {
        guard let value = members[name] else { throw .missing(member: name) }
        guard let text = value.string, let bytes = Base64URL.decode(text),
            count == nil || bytes.count == count
        else { throw .malformed(member: name) }
        return bytes
    }
}
