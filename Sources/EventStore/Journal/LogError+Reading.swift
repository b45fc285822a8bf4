package import EventLog
import RelayRecords

extension LogError: EventReadError {
    package var isLasting: Bool {
        switch code {
        case .damaged, .futureVersion, .outOfRange: true
        default: false
        }
    }
}
