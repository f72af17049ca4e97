// GenerationService: what the server needs of an engine. Tests put a scripted one in its place.
//
// Threads: any. Events as request.h says: on one thread of the service, and none after the service's destructor.
#pragma once

#include "cairn/error.h"
#include "cairn/request.h"
#include "engine/engine_thread.h"

namespace cairn {

class GenerationService {
public:
    virtual ~GenerationService() = default;
    [[nodiscard]] virtual Result<RequestId> submit(Request request, RequestEvents events) = 0;
    /// The request ends soon; nothing happens if it has ended or is unknown.
    virtual void cancel(RequestId id) = 0;
    /// When one that was refused for lack of room should try again; unit: seconds.
    [[nodiscard]] virtual double retry_after_s() const = 0;
};

}  // namespace cairn
