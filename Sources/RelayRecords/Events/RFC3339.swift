/// Points in time in RFC 3339 format, to and from microseconds since 1970-01-01 00:00 UTC.
///
///     RFC3339.text(microseconds: 1_764_000_000_123_456)  // "2025-11-24T16:00:00.123456Z"
///     RFC3339.microseconds("2025-11-24T17:00:00+01:00")  // 1_764_000_000_000_000
package enum RFC3339 {
    private static let microsecondsPerSecond: Int64 = 1_000_000
    private static let microsecondsPerDay: Int64 = 86_400 * microsecondsPerSecond

    /// The time in UTC, always with six fractional digits, so that texts of the years 0 to 9999
    /// sort like the times.
    package static func text(microseconds: Int64) -> String {
        let (days, rest) = microseconds.flooredQuotientAndRemainder(dividingBy: microsecondsPerDay)
        let date = CivilDate(daysSince1970: days)
        let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: microsecondsPerSecond)
        var text: [UInt8] = []
        text.reserveCapacity(27)
        text.append(date.year, digits: 4)
        text.append("-", date.month, digits: 2)
        text.append("-", date.day, digits: 2)
        text.append("T", seconds / 3600, digits: 2)
        text.append(":", seconds / 60 % 60, digits: 2)
        text.append(":", seconds % 60, digits: 2)
        text.append(".", fraction, digits: 6)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses a time with any offset from UTC; anything below a microsecond is dropped.
    ///
    /// As RFC 3339 §5.6 allows, it accepts `t`, `z` and a space for the `T`, and a leap second,
    /// which counts as the second after it.
    /// - Returns: nil if the text is not such a time, or if no calendar has that day.
    package static func microseconds(_ text: some StringProtocol) -> Int64? {
        var scanner = Scanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("T", "t", " "),
            let hour = scanner.number(digits: 2), scanner.skip(":"),
            let minute = scanner.number(digits: 2), scanner.skip(":"),
            let second = scanner.number(digits: 2), let fraction = scanner.fraction(),
            let offset = scanner.offsetMinutes(), scanner.isAtEnd,
            hour < 24, minute < 60, second <= 60,
            let days = CivilDate(year: year, month: month, day: day).daysSince1970
        else { return nil }
        let minutes = days * 1440 + hour * 60 + minute - offset
        return (minutes * 60 + second) * microsecondsPerSecond + fraction
    }
}

/// A day of the Gregorian calendar, extended to all times.
private struct CivilDate: Equatable {
    var year: Int64
    var month: Int64
    var day: Int64

    /// Four hundred years, after which the calendar repeats.
    private static let daysPerEra: Int64 = 146_097
    /// From the first of March of the year 0 to 1970-01-01.
    private static let epoch: Int64 = 719_468
}

extension CivilDate {
    // Years are counted from March: then a leap day is the last of its year, and five months have
    // 153 days.

    init(daysSince1970 days: Int64) {
        let (era, day) = (days + Self.epoch)
            .flooredQuotientAndRemainder(dividingBy: Self.daysPerEra)
        let yearOfEra = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// nil if there is no such day.
    var daysSince1970: Int64? {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year)
            .flooredQuotientAndRemainder(dividingBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * Self.daysPerEra + dayOfEra - Self.epoch
        // The 31st of a shorter month converts back to another day.
        return CivilDate(daysSince1970: days) == self ? days : nil
    }
}

private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ choices: Unicode.Scalar...) -> Bool {
        guard let byte = rest.first, choices.contains(Unicode.Scalar(byte)) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
            return nil
        }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    mutating func number(digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Microseconds; 0 if there is no fraction, nil if it has no digits.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        guard var fraction = digit() else { return nil }
        var digits = 1
        while let digit = digit() {
            if digits < 6 { fraction = fraction * 10 + digit }
            digits += 1
        }
        while digits < 6 {
            fraction *= 10
            digits += 1
        }
        return fraction
    }

    mutating func offsetMinutes() -> Int64? {
        if skip("Z", "z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip("+", "-"), let hours = number(digits: 2), skip(":"),
            let minutes = number(digits: 2), hours < 24, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }
}

extension Int64 {
    /// The remainder is never negative.
    fileprivate func flooredQuotientAndRemainder(
        dividingBy divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ number: Int64, digits: Int) {
        let text = String(number.magnitude)
        if number < 0 { append(UInt8(ascii: "-")) }
        for _ in text.utf8.count..<Swift.max(digits, text.utf8.count) { append(UInt8(ascii: "0")) }
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(_ separator: Unicode.Scalar, _ number: Int64, digits: Int) {
        append(UInt8(ascii: separator))
        append(number, digits: digits)
    }
}
