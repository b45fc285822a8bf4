/// How many connections a server takes: as many as it was told to, or as there are descriptors for.
struct ConnectionLimit: Equatable {
    /// Descriptors that connections leave to the log and everything else.
    static let reservedDescriptors = 128
    /// Clients beyond the limit that are answered at the same time.
    static let maxRefusals = 128

    let connections: Int
    /// Further clients that get an answer; each of them needs a descriptor as well.
    let refusals: Int

    /// - Parameter descriptors: how many the process may have; 0 when that is not known.
    init(wanted: Int, descriptors: Int) {
        guard descriptors > 0 else {
            (connections, refusals) = (wanted, Self.maxRefusals)
            return
        }
        let available = max(descriptors - Self.reservedDescriptors, 2)
        refusals = min(Self.maxRefusals, max(available / 8, 1))
        connections = min(wanted, available - refusals)
    }
}
