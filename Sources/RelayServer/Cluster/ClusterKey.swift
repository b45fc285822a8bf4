import Digests
import HTTPMessages

/// What the servers of a cluster show each other. It is in the journal, so whoever may read that has it.
struct ClusterKey: Sendable {
    private let text: [UInt8]

    init(_ bytes: [UInt8]) { text = Array("Bearer \(bytes.hexadecimal)".utf8) }

    var headers: HTTPHeaders { ["authorization": String(decoding: text, as: UTF8.self)] }

    func isShown(in headers: HTTPHeaders) -> Bool {
        guard let given = headers["authorization"] else { return false }
        return Authentication.equalInConstantTime(text, Array(given.utf8))
    }
}
