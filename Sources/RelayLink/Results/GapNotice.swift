/// A response that is none: it says that a stream has begun anew, and not where it was. A Relay server says so
/// itself; of other servers it is known by there being nothing to resume by.
package enum GapNotice {
    package static let bytes = Array(
        #"{"data":null,"extensions":{"relay":{"recovered":false}}}"#.utf8)
}

/// No response either, and of no server: what comes behind it was sent anew.
package enum RenewalMark {
    package static let bytes: [UInt8] = []
}
