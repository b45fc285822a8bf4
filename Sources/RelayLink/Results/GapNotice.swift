/// A pseudo-response: it says that a stream has restarted without resuming. A Relay server sends it itself;
/// for other servers it follows from the lack of a cursor.
package enum GapNotice {
    package static let bytes = Array(
        #"{"data":null,"extensions":{"relay":{"recovered":false}}}"#.utf8)
}

/// Not a response either, and not from a server: what follows it was sent again.
package enum RenewalMark {
    package static let bytes: [UInt8] = []
}
