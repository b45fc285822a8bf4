// RelayJSON
