"""What the benches' programs make of their measurements: medians, ratios, gates."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

import compare_results as results  # noqa: E402
import compare_servers as servers  # noqa: E402


def load_program(name):
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


compare = load_program("compare")
gates = load_program("gates")
WORKLOADS = {path.stem for path in (BENCH / "workloads").glob("*.json")}


def summary(first_tokens, computed=100, **more):
    return {"first_token_sum_s": first_tokens, "ideal_first_token_sum_s": 2.0, "computed_tokens": computed, "ideal_tokens": 80,
            **more}


class Results(unittest.TestCase):
    def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_the_medians(self):
        rounds = [{"cairn": summary(mine), "llama-server": summary(theirs)} for mine, theirs in ((1, 10), (2, 4), (9, 9))]
        result = results.result_of(rounds)
        self.assertEqual(result["cairn"]["first_token_sum_s"], 2)
        self.assertEqual(result["llama-server"]["first_token_sum_s"], 9)
        self.assertEqual(result["ratio"]["first_token_sum_s"], 0.5)

    def test_a_round_in_which_one_server_failed_counts_for_the_other_and_has_no_ratio(self):
        result = results.result_of([{"cairn": summary(1), "llama-server": summary(4)}, {"cairn": summary(3)}, {}])
        self.assertEqual(result["cairn"]["first_token_sum_s"], 2)
        self.assertEqual(result["ratio"]["first_token_sum_s"], 0.25)

    def test_the_distance_to_what_is_possible_is_taken_per_round(self):
        result = results.result_of([{"cairn": summary(2.2)}, {"cairn": summary(3)}, {"cairn": summary(2, computed=80)}])
        self.assertAlmostEqual(result["cairn"]["first_token_over_ideal"], 1.1)
        self.assertAlmostEqual(result["cairn"]["computed_over_ideal"], 1.25)

    def test_what_is_missing_or_zero_gives_no_ratio(self):
        result = results.result_of([{"cairn": summary(1, gap_p99_s=None), "llama-server": summary(0, gap_p99_s=1.0)}])
        self.assertNotIn("first_token_sum_s", result["ratio"])
        self.assertNotIn("gap_p99_s", result["ratio"])
        self.assertIn("| - |", results.markdown_table({"edits": result}))

    def test_the_middle_round_is_the_one_of_the_median_first_token(self):
        runs = [{"scale": 1, "workloads": [{"name": "edits", "summary": summary(value)}]} for value in (5, 1, 3)]
        skipped = {"scale": 1, "workloads": [{"name": "edits", "skipped": "too long", "summary": summary(0)}]}
        self.assertEqual(results.middle_of(runs + [skipped]), runs[2])
        self.assertEqual(results.middle_of([skipped]), skipped)
        self.assertIsNone(results.middle_of([]))

    def test_joined_runs_keep_the_facts_and_all_workloads(self):
        runs = [{"scale": 2, "workloads": [{"name": name}]} for name in ("edits", "agent")]
        self.assertEqual(results.joined(runs), {"scale": 2, "workloads": [{"name": "edits"}, {"name": "agent"}]})

    def test_a_table_has_as_many_cells_in_each_row(self):
        table = results.markdown_table({"edits": results.result_of([{"cairn": summary(1)}]), "agent": {"skipped": "too long"}})
        self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1)

    def test_a_page_of_a_run_that_was_broken_off_says_what_is_missing(self):
        report = {"machine": {"cpu": "c", "cores": 2, "memory_gib": 4, "kernel": "k"}, "rounds": 1, "scale": 1.0, "threads": 2, "context": 64,
                  "versions": {"cairn": "1", "llama.cpp": "2", "llama.cpp commit": "3"}, "workloads": ["edits", "agent"], "failures": [],
                  "models": {"qwen35-0.8b": {"best": {"edits": results.result_of([{"cairn": summary(1)}])}}}}
        self.assertIn("Not run: agent.", results.markdown(report))
        report["workloads"].pop()
        self.assertNotIn("Not run", results.markdown(report))


class Settings(unittest.TestCase):
    def test_all_built_in_workloads_are_compared(self):
        self.assertEqual(set(compare.WORKLOADS), WORKLOADS)
        self.assertLessEqual(set(servers.STREAMS) | set(servers.THROUGHPUT), WORKLOADS)

    def test_both_servers_get_the_same_conversation_length_and_streams(self):
        folder = pathlib.Path("folder")
        cairn = servers.flags_of("cairn", "best", "no-reuse-16", 4096, folder)
        llama = servers.flags_of("llama-server", "best", "no-reuse-16", 4096, folder)
        self.assertEqual(cairn[cairn.index("-np") + 1], llama[llama.index("-np") + 1])
        self.assertEqual(int(llama[llama.index("-c") + 1]), 16 * int(cairn[cairn.index("-c") + 1]))

    def test_defaults_are_defaults(self):
        flags = servers.flags_of("llama-server", "default", "edits", 4096, pathlib.Path("folder"))
        self.assertEqual(flags, ["-c", "16384"])


class Gates(unittest.TestCase):
    def test_a_limit_holds_up_to_itself_and_a_missing_measurement_is_a_miss(self):
        self.assertTrue(gates.limited("x", {"most": 0.35}, 0.35)["held"])
        self.assertFalse(gates.limited("x", {"most": 0.35}, 0.36)["held"])
        self.assertTrue(gates.limited("x", {"least": 0.97}, 0.97)["held"])
        self.assertFalse(gates.limited("x", {"least": 0.97}, 0.96)["held"])
        self.assertFalse(gates.limited("x", {"most": 1}, None)["held"])

    def test_the_rules_are_about_built_in_workloads(self):
        rules = json.loads(gates.GATES.read_text(encoding="utf-8"))["compare"]
        self.assertEqual({name for rule in rules for name in rule["workloads"]}, WORKLOADS)

    def test_each_workload_of_a_rule_has_a_row(self):
        rules = {"model": "m", "settings": "best",
                 "compare": [{"gate": "g", "workloads": ["a", "b"], "field": "ratio.first_token_sum_s", "most": 1}]}
        report = {"failures": [], "scale": 1, "models": {"m": {"best": {"a": {"ratio": {"first_token_sum_s": 0.5}}}}}}
        self.assertEqual([cells["held"] for cells in gates.compare_rows(rules, report)], [True, True, False])
        self.assertEqual([cells["held"] for cells in gates.compare_rows(rules, None)], [False, False])

    def test_a_rule_may_be_about_other_settings_than_the_file(self):
        rule = {"gate": "g", "workloads": ["a"], "field": "cairn.computed_over_ideal", "most": 1, "settings": "default"}
        report = {"failures": [], "scale": 1, "models": {"m": {"default": {"a": {"cairn": {"computed_over_ideal": 1}}}}}}
        rows = gates.compare_rows({"model": "m", "settings": "best", "compare": [rule]}, report)
        self.assertEqual([cells["held"] for cells in rows], [True, True])

    def test_a_comparison_that_failed_or_was_shortened_is_a_miss(self):
        rules = {"model": "m", "settings": "best", "compare": []}
        for failures, scale in ([], 0.5), (["edits: a server ended"], 1):
            rows = gates.compare_rows(rules, {"failures": failures, "scale": scale, "models": {}})
            self.assertEqual([cells["held"] for cells in rows], [False])

    def test_a_benchmark_is_found_by_its_name_without_what_the_library_appends(self):
        benches = [{"name": "match_cold/1000/100000/iterations:30", "real_time": 4.0}, {"name": "restore/manual_time", "x": 0.9},
                   {"name": "broken", "x": 1, "error_occurred": True}]
        self.assertEqual(gates.bench_field(benches, "match_cold/1000/100000", "real_time"), 4.0)
        self.assertEqual(gates.bench_field(benches, "restore", "x"), 0.9)
        self.assertIsNone(gates.bench_field(benches, "broken", "x"))
        self.assertIsNone(gates.bench_field(benches, "match_cold/1000", "real_time"))

    def test_a_count_that_moved_either_way_is_a_miss_and_named(self):
        table = {"instructions": {"tolerance": 0.1, "per_operation": {"a": 100, "b": 100, "c": 100, "d": 100}}}
        rows = gates.instruction_rows(table, {"a": 109, "b": 111, "c": 80, "new": 5})
        held = {cells["gate"].rsplit(" ", 1)[1]: cells["held"] for cells in rows}
        self.assertEqual(held, {"a": True, "b": False, "c": False, "d": False, "new": False})

    def test_the_gates_of_the_tree_name_what_is_there(self):
        known = load_program("compare").WORKLOADS
        tree = gates.json.loads(gates.GATES.read_text(encoding="utf-8"))
        for rule in tree["compare"]:
            self.assertLessEqual(set(rule["workloads"]), set(known))
        for rule in tree["compare"] + tree["micro"]:
            self.assertEqual(("most" in rule) + ("least" in rule), 1)


if __name__ == "__main__":
    unittest.main()
