extension TodoDocuments {
    /// Operations whose fields are `@required` or `@catch`.
    static let fieldErrors = """

        query RequiredNoneQuery($id: ID!) {
          node(id: $id) { ... on Todo { id text @required(action: NONE) } }
        }

        query RequiredLogQuery($id: ID!) {
          node(id: $id) { ... on Todo { id text @required(action: LOG) } }
        }

        query RequiredThrowQuery($id: ID!) {
          node(id: $id) { ... on Todo { id text @required(action: THROW) } }
        }

        query CaughtLeavesQuery($id: ID!) {
          node(id: $id) { ... on Todo { id text @catch(to: RESULT) complete @catch(to: NULL) } }
        }

        query CaughtNodeQuery($id: ID!) {
          node(id: $id) @catch(to: RESULT) { ... on Todo { id text complete } }
        }

        query CaughtNodeAsNullQuery($id: ID!) {
          node(id: $id) @catch(to: NULL) { ... on Todo { id text complete } }
        }

        query CaughtRequiredQuery($id: ID!) {
          node(id: $id) @catch(to: RESULT) { ... on Todo { id text @required(action: THROW) } }
        }

        query CaughtWholeQuery($id: ID!) @catch(to: RESULT) {
          node(id: $id) { ... on Todo { id text } }
        }

        query CaughtWholeAsNullQuery($id: ID!) @catch(to: NULL) {
          node(id: $id) { ... on Todo { id text } }
        }

        query ThrowingQuery($id: ID!) @throwOnFieldError {
          node(id: $id) { ... on Todo { id text } }
        }
        """
}
