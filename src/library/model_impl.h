// What a Model holds: the object graph that its engines share.
#pragma once

#include <memory>

#include "cairn/model.h"
#include "library/composition.h"

namespace cairn {

struct Model::Impl {
    std::unique_ptr<Composition> graph;
};

}  // namespace cairn
