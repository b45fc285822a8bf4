import Testing

@testable import Relay

@Suite struct ExecutionTests {
}
