#include "bench/report_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace cairn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

/// Each value once, in both directions: `Archive` writes or reads.
template <class Archive, class Request>
void visit_request(Archive &archive, Request &request) {
    archive("stage", request.stage);
    archive("conversation", request.conversation);
    archive("turn", request.turn);
    archive("started_s", request.started_s);
    archive("first_token_s", request.first_token_s);
    archive("total_s", request.total_s);
    archive("ideal_first_token_s", request.ideal_first_token_s);
    archive("prompt_tokens", request.prompt_tokens);
    archive("cached_tokens", request.cached_tokens);
    archive("completion_tokens", request.completion_tokens);
    archive("ideal_new_tokens", request.ideal_new_tokens);
    archive("error", request.error);
    archive("warm_up", request.warm_up);
}

template <class Archive, class Values>
void visit_summary(Archive &archive, Values &summary) {
    archive("requests", summary.requests);
    archive("failed", summary.failed);
    archive("first_token_sum_s", summary.first_token_sum_s);
    archive("first_token_p50_s", summary.first_token_p50_s);
    archive("first_token_max_s", summary.first_token_max_s);
    archive("ideal_first_token_sum_s", summary.ideal_first_token_sum_s);
    archive("computed_tokens", summary.computed_tokens);
    archive("ideal_tokens", summary.ideal_tokens);
    archive("gap_p50_s", summary.gap_p50_s);
    archive("gap_p99_s", summary.gap_p99_s);
    archive("gap_max_s", summary.gap_max_s);
    archive("completion_tokens_per_s", summary.completion_tokens_per_s);
    archive("prompt_tokens_per_s", summary.prompt_tokens_per_s);
    archive("tokens_per_s", summary.tokens_per_s);
    archive("wall_s", summary.wall_s);
}

template <class Archive, class Run>
void visit_run(Archive &archive, Run &run) {
    archive("url", run.url);
    archive("server", run.server);
    archive("model", run.model);
    archive("seed", run.seed);
    archive("scale", run.scale);
    archive("cold_tokens_per_s", run.cold.tokens_per_s);
    archive("cold_request_s", run.cold.request_s);
    archive("ideal_counted_in", run.ideal_counted_in);
    archive("notes", run.notes);
}

struct Writer {
    Json json;
    template <class T>
    void operator()(const char *key, const T &value) {
        json[key] = value;
    }
    template <class T>
    void operator()(const char *key, const std::optional<T> &value) {
        json[key] = value ? Json(*value) : Json();
    }
};

/// Throws nlohmann's exceptions.
struct Reader {
    const Json &json;
    template <class T>
    void operator()(const char *key, T &value) {
        json.at(key).get_to(value);
    }
    template <class T>
    void operator()(const char *key, std::optional<T> &value) {
        if (!json.at(key).is_null()) value = json.at(key).get<T>();
    }
};

Json json_of(const WorkloadResult &workload) {
    Json json{{"name", workload.name}};
    if (!workload.skipped.empty()) json["skipped"] = workload.skipped;
    json["requests"] = Json::array();
    for (const RequestResult &request : workload.requests) {
        Writer one;
        visit_request(one, request);
        json["requests"].push_back(std::move(one.json));
    }
    Writer summary;
    visit_summary(summary, workload.summary);
    json["summary"] = std::move(summary.json);
    return json;
}

WorkloadResult workload_of(const Json &json) {
    WorkloadResult workload;
    json.at("name").get_to(workload.name);
    workload.skipped = json.value("skipped", "");
    for (const Json &request : json.at("requests").get_ref<const Json::array_t &>()) {
        Reader reader{request};
        visit_request(reader, workload.requests.emplace_back());
    }
    Reader summary{json.at("summary")};
    visit_summary(summary, workload.summary);
    return workload;
}

}  // namespace

std::string run_json(const RunResult &run) {
    Json json{{"format", kFormat}, {"tool", "cairn bench " CAIRN_VERSION}};
    Writer writer{std::move(json)};
    visit_run(writer, run);
    writer.json["workloads"] = Json::array();
    for (const WorkloadResult &workload : run.workloads)
        writer.json["workloads"].push_back(json_of(workload));
    return json_text(writer.json, 1) + "\n";
}

Result<RunResult> parse_run_json(const std::string &file, std::string_view text) {
    try {
        const Json json = Json::parse(text);
        if (json.at("format") != kFormat)
            return fail(ErrorCode::invalid_argument, "{}: is of another format than {}", file, kFormat);
        RunResult run;
        Reader reader{json};
        visit_run(reader, run);
        // Of anything else no element would be read.
        for (const Json &workload : json.at("workloads").get_ref<const Json::array_t &>())
            run.workloads.push_back(workload_of(workload));
        return run;
    } catch (const Json::exception &error) {
        return fail(ErrorCode::invalid_argument, "{}: is no result that `cairn bench --json` wrote: {}", file,
                    error.what());
    }
}

}  // namespace cairn
