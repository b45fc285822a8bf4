import Relay

/// A custom scalar's own type, as a program has it.
struct Instant: ReadableScalar, VariableValueConvertible, Hashable {
    var seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    init?(scalar value: VariableValue) {
        guard let seconds = value.doubleValue else { return nil }
        self.seconds = seconds
    }

    var variableValue: VariableValue { .float(seconds) }
}
