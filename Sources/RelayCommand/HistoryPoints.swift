import EventStore
@_spi(Rooms) import RelayRecords
import RelayServer

extension History {
    /// The event that a point on the command line means.
    func sequence(of point: String) throws -> UInt64 {
        try sequence(of: try HistoryPoint(point), now: WallClock.microseconds())
    }
}
