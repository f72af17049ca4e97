// `cairn demo`: asks questions on a handbook, cold and warm, and shows what the cache saves and that it changes
// nothing.
//
//     int status = run_demo({.json = true}, engine, chat_template, system_env(), std::cout, std::cerr);
//
// Exit status: 0 where every warm answer equals the cold one and reused the whole handbook; 1 where one does not; the
// error's own status (base/error_table.h) where the questions could not be asked at all.
// Threads: call from any thread but the engine's; blocks until all is asked. Cost: one cold prefill of the handbook,
// about 2,500 tokens, for each question.
#pragma once

#include <iosfwd>

#include "api/chat_template.h"
#include "engine/engine_thread.h"
#include "env/env.h"

namespace cairn {

struct DemoOptions {
    bool json = false;       ///< [--json] one JSON document instead of the table
    int questions = 12;      ///< [--questions N] how many are asked
    bool all = false;        ///< [--all] every question there is
    bool demo_model = true;  ///< false: -m named another model, which may answer wrongly
};

/// The result goes to `out`, errors to `err`.
[[nodiscard]] int run_demo(const DemoOptions &options, EngineThread &engine, const ChatTemplate &chat_template,
                           Env &env, std::ostream &out, std::ostream &err);

}  // namespace cairn
