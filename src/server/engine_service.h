// EngineService: an Engine as the server sees it. Outlived by the engine.
#pragma once

#include <utility>

#include "server/generation_service.h"

namespace cairn {

class EngineService final : public GenerationService {
public:
    explicit EngineService(EngineThread &engine) : engine_(engine) {}

    [[nodiscard]] Result<RequestId> submit(Request request, RequestEvents events) override {
        return engine_.submit(std::move(request), std::move(events));
    }
    void cancel(RequestId id) override { engine_.cancel(id); }
    [[nodiscard]] double retry_after_s() const override { return engine_.stats().seconds_per_request.value_or(0); }

private:
    EngineThread &engine_;
};

}  // namespace cairn
