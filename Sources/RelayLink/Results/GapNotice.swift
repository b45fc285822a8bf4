/// A pseudo-response: it says that a stream has restarted without resuming. A Relay server sends it itself;
/// for other servers it follows from the lack of a cursor.
package enum GapNotice {
    package static let bytes = Array(
        #"{"data":null,"extensions":{"relay":{"recovered":false}}}"#.utf8)
}

/// Not a response either, and not from a server.
package enum RenewalMark {
    /// What follows it was sent again.
    package static let bytes: [UInt8] = []
    /// What follows it has no patches of records: the server has refused to resume with them. The reader may have asked
    /// for that meanwhile; then another mark follows.
    package static let refusal: [UInt8] = [0]

    package static func isMark(_ response: [UInt8]) -> Bool {
        response == bytes || response == refusal
    }
}
