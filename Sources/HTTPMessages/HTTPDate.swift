#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment as HTTP writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT`. RFC 9110 §5.6.7.
struct HTTPDate: CustomStringConvertible {
    /// Seconds since 1970 began, from 0 on.
    var seconds: Int

    /// By the system's clock.
    static var now: HTTPDate { HTTPDate(seconds: max(0, Int(time(nil)))) }

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    var description: String {
        let day = seconds / 86_400
        let (year, month, dayOfMonth) = Self.civil(day)
        let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(Self.twoDigits)
        return """
            \(Self.weekdays[day % 7]), \(Self.twoDigits(dayOfMonth)) \(Self.months[month]) \(year) \
            \(time.joined(separator: ":")) GMT
            """
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// The year, the month from 0 to 11 and the day of the month from 1 on.
    private static func civil(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        var day = daysSince1970
        var year = 1970
        while day >= daysOfYear(year) {
            day -= daysOfYear(year)
            year += 1
        }
        let february = daysOfYear(year) == 366 ? 29 : 28
        var month = 0
        for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
            if day < days { break }
            day -= days
            month += 1
        }
        return (year, month, day + 1)
    }

    private static func daysOfYear(_ year: Int) -> Int {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365
    }
}
