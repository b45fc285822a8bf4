import HTTPMessages
import RelayJSON

extension HTTPResponse {
    /// Why something that does not speak GraphQL is not answered: a sentence for people, and for programs
    /// `{"errors": [{"message": …}]}`.
    init(refusing status: Int, _ message: String, isForPeople: Bool = false) {
        if isForPeople {
            self.init(status: status, text: message)
        } else {
            let body: JSONValue = ["errors": [["message": .string(message)]]]
            self.init(
                status: status, headers: ["content-type": "application/json; charset=utf-8"],
                body: Array((body.text + "\n").utf8))
        }
        if status == 401 { headers.append(Authentication.challenge) }
        if status == 503 { headers.append("retry-after", "1") }
    }
}
