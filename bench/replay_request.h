// The lines of replay_trace.py as requests: who asks for which blocks when. For disk_replay.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/types.h"

namespace cairn::bench {

struct Request {
    double at_s = 0, service_s = 0;
    TokenPos prompt = 0, answer = 0, system = 0, block = 0;
    std::vector<std::uint64_t> path;  // path[i]: a hash of the first i blocks, answer included
};

inline std::uint64_t mixed(std::uint64_t prefix, std::uint64_t id) {
    std::uint64_t x = prefix * 0x9e3779b97f4a7c15u + id + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Stops the program where a line is not one.
inline std::vector<Request> read_requests(std::istream &in) {
    std::vector<Request> requests;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> before;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        Request r;
        std::uint64_t stream = 0, id = 0;
        std::size_t keep = 0;
        char mark = 0;
        fields >> r.at_s >> r.service_s >> r.prompt >> r.answer >> r.system >> r.block >> stream >> keep >> mark;
        std::vector<std::uint64_t> &ids = before[stream];
        if (!fields || r.block <= 0 || keep > ids.size()) {
            std::fprintf(stderr, "Line %zu is not what replay_trace.py prints.\n", requests.size() + 1);
            std::exit(2);
        }
        ids.resize(keep);
        while (fields >> id) {
            ids.push_back(id);
            fields >> mark;
        }
        r.path.push_back(0);
        for (std::uint64_t each : ids)
            r.path.push_back(mixed(r.path.back(), each));
        requests.push_back(std::move(r));
    }
    return requests;
}

}  // namespace cairn::bench
