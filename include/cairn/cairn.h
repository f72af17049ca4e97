// All of the library's public interface.
#pragma once

#include "cairn/config.h"
#include "cairn/engine.h"
#include "cairn/error.h"
#include "cairn/generator.h"
#include "cairn/model.h"
#include "cairn/request.h"
#include "cairn/types.h"
