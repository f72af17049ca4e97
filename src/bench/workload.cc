#include "bench/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace cairn {
namespace {

using Json = nlohmann::json;

constexpr unsigned kMostWords = 1000000;
constexpr unsigned kMostTimes = 1000;
constexpr unsigned kMostTokens = 100000;
constexpr std::size_t kMostRequests = 10000;

/// What the placeholders stand for at one place.
struct Numbers {
    unsigned round = 1;
    unsigned copy = 1;
    unsigned turn = 1;
};

std::string filled(std::string text, const Numbers &numbers) {
    const std::pair<std::string, unsigned> all[] = {
        {"{round}", numbers.round}, {"{copy}", numbers.copy}, {"{turn}", numbers.turn}};
    for (const auto &[placeholder, number] : all) {
        for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at))
            text.replace(at, placeholder.size(), std::to_string(number));
    }
    return text;
}

/// Reads on after a mistake; the first one is what is told.
class WorkloadParser {
public:
    explicit WorkloadParser(std::string file) : file_(std::move(file)) {}

    Result<Workload> parse(std::string_view text) {
        const Json json = Json::parse(text, nullptr, false);
        Workload workload;
        if (json.is_discarded()) {
            wrong("", "is no JSON");
        } else if (is_object(json, "", {"name", "about", "stages"})) {
            workload.name = word(json, "", "name");
            workload.about = word(json, "", "about");
            for (const auto &[stage, path] : items(json, "", "stages"))
                add_stages(workload, *stage, path);
        }
        if (!wrong_.empty()) return fail(ErrorCode::invalid_argument, "{}", wrong_);
        return workload;
    }

private:
    using Item = std::pair<const Json *, std::string>;  ///< and its path

    void wrong(const std::string &path, const std::string &what) {
        if (wrong_.empty()) wrong_ = fmt::format("{}: {}{}", file_, path.empty() ? "" : path + " ", what);
    }

    static std::string below(const std::string &path, const std::string &key) {
        return path.empty() ? key : path + "." + key;
    }

    bool is_object(const Json &json, const std::string &path, std::initializer_list<const char *> known) {
        if (!json.is_object()) {
            wrong(path, "must be an object");
            return false;
        }
        for (const auto &[key, value] : json.items()) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                wrong(below(path, key), fmt::format("is unknown: the fields here are {}", fmt::join(known, ", ")));
            }
        }
        return true;
    }

    std::string word(const Json &json, const std::string &path, const char *key) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_string() && !found->get_ref<const std::string &>().empty()) return *found;
        wrong(below(path, key), "must be a text that is not empty");
        return {};
    }

    unsigned number(const Json &json, const std::string &path, const char *key, unsigned otherwise, unsigned most) {
        const auto found = json.find(key);
        if (found == json.end()) return otherwise;
        if (found->is_number_unsigned() && *found >= 1u && *found <= most) return *found;
        wrong(below(path, key), fmt::format("must be a whole number from 1 to {}", most));
        return 1;
    }

    std::vector<Item> items(const Json &json, const std::string &path, const char *key) {
        std::vector<Item> all;
        const auto found = json.find(key);
        if (found == json.end() || !found->is_array() || found->empty()) {
            wrong(below(path, key), "must be an array that is not empty");
            return all;
        }
        for (std::size_t i = 0; i < found->size(); ++i)
            all.emplace_back(&(*found)[i], fmt::format("{}[{}]", below(path, key), i));
        return all;
    }

    TextPart text_part(const Json &json, const std::string &path, const Numbers &numbers) {
        TextPart part;
        if (json.is_string()) {
            part.literal = json;
        } else if (!json.is_object()) {
            wrong(path, "must be a text, {\"words\": N, \"seed\": \"name\"}, or an array of those");
        } else if (is_object(json, path, {"words", "seed"})) {
            part.words = number(json, path, "words", 0, kMostWords);
            part.seed = filled(word(json, path, "seed"), numbers);
            if (part.words == 0) wrong(below(path, "words"), "is missing: how many words the text has");
        }
        return part;
    }

    bool yes_or_no(const Json &json, const std::string &path, const char *key) {
        const auto found = json.find(key);
        if (found == json.end()) return false;
        if (!found->is_boolean()) wrong(below(path, key), "must be true or false");
        return *found == true;
    }

    TextPlan text(const Json &json, const std::string &path, const char *key, const Numbers &numbers) {
        const auto found = json.find(key);
        if (found == json.end()) {
            wrong(below(path, key), "is missing");
            return {};
        }
        if (!found->is_array()) return {text_part(*found, below(path, key), numbers)};
        TextPlan plan;
        for (const auto &[part, part_path] : items(json, path, key))
            plan.push_back(text_part(*part, part_path, numbers));
        return plan;
    }

    /// `turns`: how many the conversation has; becomes how many it has behind the step.
    Step step(const Json &json, const std::string &path, Numbers numbers, unsigned &turns) {
        // Before they are all written out: repeats and copies multiply.
        if (++requests_ > kMostRequests) wrong("stages", fmt::format("ask more than {} times", kMostRequests));
        Step made;
        made.edit = number(json, path, "edit", 0, kMostTimes);
        if (made.edit > turns) wrong(below(path, "edit"), fmt::format("must be a turn that was, at most {}", turns));
        turns = made.edit > 0 ? made.edit : turns + 1;
        numbers.turn = turns;
        if (json.contains("system")) {
            if (turns != 1 || made.edit != 0) wrong(below(path, "system"), "must stand before the first turn");
            made.system = text(json, path, "system", numbers);
        }
        made.user = text(json, path, "user", numbers);
        if (json.contains("answer")) made.answer = text(json, path, "answer", numbers);
        made.max_tokens = number(json, path, "max_tokens", made.max_tokens, kMostTokens);
        return made;
    }

    void add_conversations(Stage &stage, const Json &json, const std::string &path, Numbers numbers) {
        if (!is_object(json, path, {"name", "copies", "fork", "steps"})) return;
        const std::string name = word(json, path, "name");
        const unsigned copies = number(json, path, "copies", 1, kMostTimes);
        for (numbers.copy = 1; numbers.copy <= copies && wrong_.empty(); ++numbers.copy) {
            ConversationPlan made{filled(name, numbers), {}, {}};
            if (!names_of_stage_.insert(made.name).second)
                wrong(below(path, "name"), fmt::format("is \"{}\" twice in a stage: put {{copy}} in it", made.name));
            unsigned turns = turns_.contains(made.name) ? turns_.at(made.name) : 0;
            if (json.contains("fork")) {
                made.fork = filled(word(json, path, "fork"), numbers);
                const auto forked = turns_before_stage_.find(made.fork);
                if (forked == turns_before_stage_.end())
                    wrong(below(path, "fork"), "must be a conversation of an earlier stage");
                else if (turns > 0)
                    wrong(below(path, "name"), "must be new, because of the fork: put {round} or {copy} in it");
                else
                    turns = forked->second;
            }
            for (const auto &[item, item_path] : items(json, path, "steps")) {
                if (!is_object(*item, item_path, {"system", "user", "edit", "answer", "max_tokens", "repeat"})) break;
                const unsigned repeat = number(*item, item_path, "repeat", 1, kMostTimes);
                for (unsigned i = 0; i < repeat && wrong_.empty(); ++i)
                    made.steps.push_back(step(*item, item_path, numbers, turns));
            }
            turns_[made.name] = turns;
            stage.conversations.push_back(std::move(made));
        }
    }

    void add_stages(Workload &workload, const Json &json, const std::string &path) {
        if (!is_object(json, path, {"restart", "warm_up", "together", "repeat", "conversations"})) return;
        if (json.contains("restart")) {
            if (json.size() != 1 || json["restart"] != true) wrong(path, "must be {\"restart\": true} alone");
            workload.stages.push_back({.restart = true, .conversations = {}});
            return;
        }
        const bool together = yes_or_no(json, path, "together");
        const bool warm_up = yes_or_no(json, path, "warm_up");
        Numbers numbers;
        const unsigned repeat = number(json, path, "repeat", 1, kMostTimes);
        for (numbers.round = 1; numbers.round <= repeat && wrong_.empty(); ++numbers.round) {
            Stage stage{.warm_up = warm_up, .together = together, .conversations = {}};
            turns_before_stage_ = turns_;
            names_of_stage_.clear();
            for (const auto &[item, item_path] : items(json, path, "conversations"))
                add_conversations(stage, *item, item_path, numbers);
            workload.stages.push_back(std::move(stage));
        }
    }

    std::string file_;
    std::string wrong_;
    std::size_t requests_ = 0;
    std::map<std::string, unsigned> turns_;  ///< of each conversation so far
    std::map<std::string, unsigned> turns_before_stage_;
    std::set<std::string> names_of_stage_;
};

}  // namespace

Result<Workload> parse_workload(const std::string &file, std::string_view json) {
    return WorkloadParser(file).parse(json);
}

std::size_t count_requests(const Workload &workload) {
    std::size_t requests = 0;
    for (const Stage &stage : workload.stages) {
        for (const ConversationPlan &conversation : stage.conversations)
            requests += conversation.steps.size();
    }
    return requests;
}

bool needs_restart(const Workload &workload) {
    return std::any_of(workload.stages.begin(), workload.stages.end(), [](const Stage &s) { return s.restart; });
}

}  // namespace cairn
