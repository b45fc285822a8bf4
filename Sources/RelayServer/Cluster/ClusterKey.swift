import Digests
import HTTPMessages
import RelayJSON

/// What the servers of a cluster show each other. It is in the journal, so whoever may read that has it.
struct ClusterKey: Sendable {
    private let text: [UInt8]
    /// What shows that a server has the key.
    let proof: String

    init(_ bytes: [UInt8]) {
        text = Array("Bearer \(bytes.hexadecimal)".utf8)
        let digest = SHA256()
        digest.update(bytes)
        proof = digest.finish().hexadecimal
    }

    var headers: HTTPHeaders { ["authorization": String(decoding: text, as: UTF8.self)] }

    func isShown(in headers: HTTPHeaders) -> Bool {
        guard let given = headers["authorization"] else { return false }
        return Authentication.equalInConstantTime(text, Array(given.utf8))
    }
}

/// What a server says when it lets another one of the cluster in: the payload of `connection_ack`.
///
/// A server that is none of the cluster, at an address that is wrong or somebody else's by now, says nothing like it.
struct NodeGreeting: Sendable {
    /// Of the cluster's key.
    let proof: String
    /// What the rules of its schema look at.
    let claims: Set<String>
    /// The most that it takes in one message.
    let messageBytes: Int

    private static let name = "relay"

    var payload: JSONObject {
        let claims = JSONValue.array(claims.sorted().map { .string($0) })
        return [
            Self.name: [
                "proof": .string(proof), "claims": claims,
                "messageBytes": .int(Int64(clamping: messageBytes)),
            ]
        ]
    }

    init(proof: String, claims: Set<String>, messageBytes: Int) {
        self.proof = proof
        self.claims = claims
        self.messageBytes = messageBytes
    }

    init?(_ payload: JSONObject?) {
        guard let greeting = payload?[Self.name], let proof = greeting["proof"]?.string,
            let claims = greeting["claims"]?.array, case .int(let bytes)? = greeting["messageBytes"]
        else { return nil }
        self.init(
            proof: proof, claims: Set(claims.compactMap(\.string)),
            messageBytes: Int(clamping: bytes))
    }
}
