// A store is made of records: a program that imports it needs their ids, values and proxies, and the handlers of fields.
@_exported public import RelayNormalization
@_exported public import RelayReading
@_exported @_spi(Rooms) public import RelayRecords
