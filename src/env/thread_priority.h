// Threads of work that nobody waits for.
#pragma once

namespace cairn {

/// The calling thread gets what others leave of the processor, from now on. Best effort: says nothing where the system
/// refuses. libllama's threads spin at barriers, so a thread that takes turns with them costs far more than its time.
void yield_to_others() noexcept;

}  // namespace cairn
