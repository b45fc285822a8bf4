import CLibwebsockets

/// Something the library calls back for: a listener, a served connection, a client's connection.
///
/// The library's handle points here; `LoopCore.endpoints` keeps it alive until the handle is gone.
class Endpoint {
    unowned let core: LoopCore
    let id: UInt64
    /// The library's handle, nil before there is one and after it is gone.
    final var wsi: OpaquePointer?

    init(core: LoopCore) {
        self.core = core
        id = core.nextID()
    }

    /// What goes into the library's handle.
    final var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Does what a callback asks for. A nonzero answer closes the connection.
    func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 { 0 }

    /// The library's handle is gone, for whatever reason; called once.
    func libraryDestroyed() {}

    /// Called about once a second with the monotonic milliseconds.
    func sweep(now: Int64) {}

    /// Ends the connection at the next turn of the loop, without a goodbye.
    final func abort() {
        guard let wsi else { return }
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
        core.serviceLibraryTimers()
    }
}

extension LoopCore {
    /// Whom a callback is for; nil for those that are for nobody in particular.
    fileprivate func endpoint(of wsi: OpaquePointer, for reason: lws_callback_reasons) -> Endpoint?
    {
        if let opaque = lws_get_opaque_user_data(wsi) {
            return Unmanaged<Endpoint>.fromOpaque(opaque).takeUnretainedValue()
        }
        // A connection that is handed to the library with what it has sent goes through its first
        // callbacks before anybody can write on its handle whose it is.
        guard let adopting, reason == LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED else {
            return nil
        }
        lws_set_opaque_user_data(wsi, adopting.opaque)
        return adopting
    }
}

// Everything the library has to say comes through here. A top-level function: a closure could
// inherit an actor's isolation, and the library's thread would then trap on entering it.
func libwebsocketsCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    data: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard
        let wsi, let context = lws_get_context(wsi),
        let core = LoopWakeup.owner(of: lws_context_user(context)),
        let endpoint = core.endpoint(of: wsi, for: reason)
    else { return 0 }
    if reason == LWS_CALLBACK_WSI_DESTROY {
        lws_set_opaque_user_data(wsi, nil)
        core.enter {
            endpoint.wsi = nil
            endpoint.libraryDestroyed()
            core.remove(endpoint)
        }
        return 0
    }
    // A client's first callbacks come before the call that made the connection has returned.
    if endpoint.wsi == nil { endpoint.wsi = wsi }
    return core.enter { endpoint.handle(reason, wsi: wsi, data: data, count: count) }
}
