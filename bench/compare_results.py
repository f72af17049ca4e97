"""What bench/compare makes of its rounds: medians, ratios, and tables. Pure, but for the facts of the machine."""

import os
import pathlib
import platform
import re
import statistics
import subprocess

from compare_servers import CAIRN, LLAMA, SERVERS

# Fields of a summary of `cairn bench` that are compared, and how a table calls them.
COLUMNS = (("first_token_sum_s", "first tokens, s", 2), ("computed_tokens", "computed tokens", 0), ("gap_p99_s", "gap p99, s", 3),
           ("tokens_per_s", "tokens/s", 1), ("wall_s", "all, s", 1))


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def quotient(a, b):
    return a / b if a is not None and b else None


def with_shares(summary):
    """A summary, and how far it is from what is possible."""
    shares = {"first_token_over_ideal": quotient(summary.get("first_token_sum_s"), summary.get("ideal_first_token_sum_s")),
              "computed_over_ideal": quotient(summary.get("computed_tokens"), summary.get("ideal_tokens"))}
    return {**summary, **shares}


def medians_of(summaries):
    """Field -> its median over the rounds, for the fields that are numbers."""
    fields = sorted({field for summary in summaries for field, value in summary.items() if isinstance(value, (int, float))})
    return {field: median([summary.get(field) for summary in summaries]) for field in fields}


def ratios_of(rounds):
    """Field -> the median over the rounds of cairn / llama-server, each ratio from the two runs of one round."""
    pairs = [(turn[CAIRN], turn[LLAMA]) for turn in rounds if CAIRN in turn and LLAMA in turn]
    fields = sorted({field for pair in pairs for field, value in pair[0].items() if isinstance(value, (int, float))})
    ratios = {field: median([quotient(mine.get(field), theirs.get(field)) for mine, theirs in pairs]) for field in fields}
    return {field: ratio for field, ratio in ratios.items() if ratio is not None}


def result_of(rounds):
    """`rounds`: for each round {server: summary}. A server that failed is absent from its round."""
    rounds = [{server: with_shares(summary) for server, summary in turn.items()} for turn in rounds]
    result = {server: medians_of([turn[server] for turn in rounds if server in turn]) for server in SERVERS}
    return {**result, "ratio": ratios_of(rounds), "rounds": rounds}


def entry_of(run):
    """The one workload of a result of `cairn bench`."""
    return run["workloads"][0]


def was_run(run):
    return not entry_of(run).get("skipped")


def middle_of(runs):
    """The run whose first tokens took the median time (of an even number: the lower one); else one that says why not."""
    ran = sorted(filter(was_run, runs), key=lambda run: entry_of(run)["summary"]["first_token_sum_s"])
    return ran[(len(ran) - 1) // 2] if ran else (runs[-1] if runs else None)


def joined(runs):
    """Runs of one workload each as one result, with the facts of the last one."""
    return {**runs[-1], "workloads": [entry_of(run) for run in runs]}


def number(value, digits):
    return "-" if value is None else f"{value:,.{digits}f}"


def markdown_table(results):
    """Workload -> result, as one table: cairn, llama-server and the ratio for each field."""
    head, rule = ["workload"], ["---"]
    for _, title, _ in COLUMNS:
        head += [f"{title}: {CAIRN}", LLAMA, "ratio"]
        rule += ["---:"] * 3
    head += ["cairn / ideal: first tokens", "computed tokens"]
    rule += ["---:"] * 2
    lines = [head, rule]
    for workload, result in results.items():
        if "skipped" in result:
            lines.append([f"{workload}: {result['skipped']}"] + [""] * (len(head) - 1))
            continue
        row = [workload]
        for field, _, digits in COLUMNS:
            row += [number(result[server].get(field), digits) for server in SERVERS]
            row.append(number(result["ratio"].get(field), 3))
        row += [number(result[CAIRN].get(field), 3) for field in ("first_token_over_ideal", "computed_over_ideal")]
        lines.append(row)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def markdown(report):
    facts = report["machine"]
    versions = report["versions"]
    lines = ["# cairn and llama-server", "",
             f"cairn {versions['cairn']}; llama.cpp {versions['llama.cpp']} ({versions['llama.cpp commit']}). {facts['cpu']}, "
             f"{facts['cores']} cores, {facts['memory_gib']} GiB, Linux {facts['kernel']}. {report['threads']} threads, "
             f"{report['context']:,} tokens of context, scale {report['scale']}, "
             + ("one round; " if report["rounds"] == 1 else f"medians of {report['rounds']} rounds; ")
             + ("each server ran each workload alone." if report.get("one_at_a_time") else
                "each request was asked of one server and then of the other."), "",
             "`ratio`: cairn / llama-server, the median over the rounds. Below 1 cairn is better; of tokens/s, above 1. "
             "`first tokens`: how long all requests together waited for their first token. `computed tokens`: of prompts, what "
             "was not cached. `gap p99`: between two pieces of an answer, longer in one of a hundred. `tokens/s`: of prompts, "
             "cached ones too, and answers, in the time `all`, in which at least one request was unanswered. `ideal`: what computing only "
             "tokens that were never seen would take.", ""]
    if "demo" in report["models"]:
        lines += ["The demo model computes in no time: what is measured of it is all but computing.", ""]
    for model, by_settings in report["models"].items():
        for settings, results in by_settings.items():
            lines += [f"## {model}, {settings}", "", markdown_table(results), ""]
            if missing := [workload for workload in report["workloads"] if workload not in results]:
                lines += [f"Not run: {', '.join(missing)}.", ""]
    if report["failures"]:
        lines += ["## Failures", ""] + [f"- {failure}" for failure in report["failures"]] + [""]
    return "\n".join(lines)


def first_match(pattern, text, otherwise):
    match = re.search(pattern, text, re.M)
    return match.group(1).strip() if match else otherwise


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def machine_facts():
    memory_kib = first_match(r"^MemTotal:\s*(\d+)", read("/proc/meminfo"), "0")
    return {"cpu": first_match(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), platform.machine()),
            "cores": len(os.sched_getaffinity(0)), "memory_gib": round(int(memory_kib) / (1 << 20), 1),
            "kernel": read("/proc/sys/kernel/osrelease").strip(), "load_before": read("/proc/loadavg").split()[:3]}


def versions(root):
    git = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty", "--tags"], capture_output=True, text=True,
                         check=False)
    llama = read(root / "cmake/CairnLlama.cmake")
    return {"cairn": git.stdout.strip() or first_match(r"project\(cairn VERSION (\S+)", read(root / "CMakeLists.txt"), "?"),
            "llama.cpp": first_match(r"^set\(CAIRN_LLAMA_VERSION (\S+)\)", llama, "?"),
            "llama.cpp commit": first_match(r"^set\(CAIRN_LLAMA_COMMIT (\S+)\)", llama, "?")}
