# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks. Each returns figures and plots; the target of a figure stands beside it."""
import json
import os
import time

from drawing import bars, lines
from measure import Failed, Figure, quantile, ratios, run, together
from full_node import full_node, full_node_restart
from jobs import captured, durable_figure, job, write_by_ranks
from page_cache import page_cache
from restarts import kept_sets, partial_reads, restart_decoding, restart_memory, restart_time
from short_jobs import first_checkpoint, first_file, job_ends, small_job

MIB = 1 << 20


def application_cost(place):
    """How long the program waits on a memory file system."""
    group = "The program waits: from H5Fcreate to the return of H5Fclose, on a memory file system"
    env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")}
    program = place.build / "bench/application_cost/application_cost"
    cost = run([program, place.directory("cost"), *(["--quick"] if place.quick else ["--rounds", "7"])], env=env)
    asked = {"large": 0.85, "5000": 1.05, "empty, new": 1.35, "empty, overwritten": 1.5, "large, read": 1.02}
    figures, rows = [], {}
    for case in json.loads(cost.text)["cases"]:
        bound = next((asked[key] for key in sorted(asked, key=len, reverse=True) if case["case"].startswith(key)), None)
        known = case["case"].startswith("empty") or not ("cold" in case["case"] or "overwritten" in case["case"])
        figure = Figure(group, case["case"] + ": mcr ÷ native", case["ratio"], ("<=", bound) if known and bound is not None else None)
        figure.low, figure.high = case["ratio_quartiles"]
        figures.append(figure)
        rows[case["case"][:22]] = [(figure.value, figure.low, figure.high)]
    return figures, {group: [bars("mcr ÷ native (1 is as native)", "×", rows, ["time of the program"])]}


def leader_throughput(place):
    """The leader's whole drain compared with the codecs alone."""
    group = "The leader: throughput beside the same codecs in a bare loop"
    files = place.make_set("throughput", ranks=8, variables=8, elements=(1 if place.quick else 4) * 131072)
    program, out = place.build / "bench/drain/drain_bench", place.directory("throughput-out")
    rounds = 3 if place.quick else 7
    figures, rows = [], {}
    for profile in ("fast", "balanced", "max"):
        one = json.loads(run([program, "--rounds", rounds, "--profile", profile, out, *files]).text)
        r = one["throughput_over_bare_cpu"]
        figure = Figure(group, f"one thread, profile {profile}: leader ÷ bare loop, CPU time", r["median"], (">=", 0.9),
                        note=f"{one['drain_mb_per_cpu_second']:.0f} MB/s of CPU time")
        figure.low, figure.high = r["low"], r["high"]
        figures.append(figure)
        known = one["throughput_over_known_cpu"]
        figures.append(Figure(group, f"the same beside a bare loop that knows what each frame ends with, profile {profile}",
                              [known["low"], known["median"], known["high"]], more_is_better=True))
        rows[profile] = [(r["median"], r["low"], r["high"])]
        threads = lambda n: lambda: place.pack(files, "-j", n, "--profile", profile).wall
        gain, _, _ = ratios(threads(1), threads(2), rounds)
        figures.append(Figure(group, f"two threads ÷ one, time, profile {profile}", gain, (">=", 1.8),
                              note="says something on a machine with two free cores only"))
    return figures, {group: [bars("leader ÷ bare loop", "", rows, ["one thread, CPU time"])]}


def leader_memory(place):
    """Peak memory of a drain compared with its setting, for few ranks and for many."""
    group = "The leader: peak memory"
    total = (1 << 29) if place.quick else (4 << 30)
    peaks = {}
    for ranks in (1, 64):
        name = f"memory-{ranks}"
        files = place.make_set(name, ranks=ranks, variables=16, elements=total // ranks // 16 // 8)
        peaks[ranks] = place.pack(files, "--memory", "256MiB").peak
        place.drop(name)
    return [Figure(group, f"{total / 2**30:.1f} GiB in {ranks} parts, peak resident", peak / MIB, ("<=", 256), "MiB")
            for ranks, peak in peaks.items()] + [
                Figure(group, "64 parts against 1: the greater ÷ the smaller", max(peaks.values()) / min(peaks.values()), ("<=", 1.1))], {}


def many_variables(place):
    """A set like Cactus': 32 ranks of 8,900 datasets."""
    group = "Many variables: 32 ranks × 8,900 datasets"
    variables, ranks = (900, 8) if place.quick else (8900, 32)
    program, out = place.build / "bench/drain/drain_bench", place.directory("many-out")
    files = place.make_set("many", ranks=ranks, variables=variables, elements=32)
    rounds = 1 if place.quick else 5
    bare = json.loads(run([program, "--rounds", rounds, "--profile", "none", out, *files]).text)
    figures = [Figure(group, f"{ranks} × {variables} datasets: fixed cost of a variable of a part", bare["us_per_fragment"],
                      ("<=", 5), "µs", "CPU time of all but the codecs, datasets of 256 bytes, "
                      f"{bare['parts_not_walked']} of {ranks} parts known by their layout")]
    few = json.loads(run([program, "--rounds", rounds, "--profile", "none", out, *files[:4]]).text)
    further = (bare["seconds_beyond_codecs"] - few["seconds_beyond_codecs"]) / (bare["fragments"] - few["fragments"])
    figures.append(Figure(group, f"the same of a further part that is known by its layout ({ranks} parts less 4)", further * 1e6, ("<=", 5), "µs"))
    files = place.make_set("many-real", ranks=ranks, variables=variables, elements=1152)
    packed = place.pack(files)
    skeletons = next(one["stored_bytes"] for one in packed.report["variables"] if one["name"] == "skeletons")
    figures += [Figure(group, "skeletons, stored ÷ raw bytes of the set (datasets of 9 KiB)",
                       100 * skeletons / packed.report["raw_bytes"], ("<=", 1), "%"),
                Figure(group, "size: raw ÷ container", packed.report["raw_bytes"] / packed.report["container_bytes"], None, "×",
                       more_is_better=True)]
    for name in ("many", "many-real"):
        place.drop(name)
    return figures, {}


def first_set(place):
    """What a launch's first set costs beyond later ones: which variables to link, and which pipeline each gets."""
    group = "The first set of a launch, for which variables to link and pipelines are chosen"
    program, out = place.build / "bench/drain/drain_bench", place.directory("first-set-out")
    rounds = 1 if place.quick else 5
    sets = {"4 ranks × 8 variables of 512 KiB": dict(ranks=4, variables=8, elements=65536),
            "2 ranks × 8,900 variables of 1 KiB": dict(ranks=2, variables=890 if place.quick else 8900, elements=128)}
    figures = []
    for name, shape in sets.items():
        files = place.make_set("first-set", **shape)
        for profile in ("fast", "balanced", "max"):
            first, later = (json.loads(run([program, "--rounds", rounds, "--profile", profile, *options, out, *files]).text)["drain_mb_per_cpu_second"]
                            for options in (["--cold"], []))
            figures.append(Figure(group, f"{name}, {profile}: CPU time, first set ÷ later ones", later / first,
                                  ("<=", 1.1) if profile == "balanced" else None,
                                  note=f"{first:.0f} and {later:.0f} MB a CPU second"))
        place.drop("first-set")
    return figures, {}


def many_variables_of_steps(place):
    """What a set of many small variables costs the leader before it encodes: the first set, the next, and one whose names
    hold the step."""
    variables, elements = 890 if place.quick else 8900, 128
    group = f"Sets of 2 ranks × {variables} variables of 1 KiB, as a leader drains them"
    figures = []
    for title, step in (("the same names in each set", 0), ("names that hold the iteration (Carpet)", 64)):
        phases = []
        for _ in range(1 if place.quick else 5):
            directory, traces = place.directory("steps"), place.directory("traces")
            traces.chmod(0o700)
            env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")} | captured(place, f"trace={traces}/sets;leader_threads=1;exit_wait=60s")
            write_by_ranks(place, directory, 2, elements, env, "--variables", variables, "--steps", 3, "--over", 1, "--pause", 2000, "--iterations", step)
            written = [json.loads(path.read_text()) for path in sorted((traces / "sets").iterdir())]
            written.sort(key=lambda trace: trace["container"])
            if len(written) != 3:
                raise Failed(f"{len(written)} traces of 3 sets")
            phases.append([dict(trace["phases"]) for trace in written])
        for number, which in ((0, "first set"), (2, "third set")):
            before = [sum(sets[number][name] for name in ("inventory", "plan", "choose")) for sets in phases]
            drained = [sets[number]["drain"] for sets in phases]
            raw = 2 * variables * elements * 8
            figures += [Figure(group, f"{title}, {which}: inventory, plan and choice of a dataset", [1e6 * s / 2 / variables for s in before], unit="µs"),
                        Figure(group, f"{title}, {which}: raw bytes a second, all phases", [raw / (b + d) / 1e6 for b, d in zip(before, drained)],
                               unit="MB/s", more_is_better=True)]
        place.drop("steps")
        place.drop("traces")
    return figures, {}


def scaling(place):
    """Size and time by number of ranks, group size and number of variables; the number of bytes is the same."""
    group = "Scaling: the same bytes in more parts, smaller groups, more variables"
    total, rounds = (32 if place.quick else 256) * MIB, 2 if place.quick else 5
    curves = {"time": [], "size": []}

    def measure(files, *options):
        costs = [place.pack(files, "-j", 1, *options) for _ in range(rounds)]
        per_byte = [cost.cpu * 1e9 / cost.report["raw_bytes"] for cost in costs]
        return per_byte, costs[0].report["raw_bytes"] / costs[0].report["container_bytes"]

    plots, flat = [], {}
    for title, x_name, values, shape in (
            ("ranks", "ranks", (1, 4, 16, 64), lambda n: {"ranks": n, "variables": 8, "elements": total // n // 64}),
            ("variables", "variables of a part", (4, 32, 256, 2048), lambda n: {"ranks": 8, "variables": n, "elements": total // 64 // n})):
        time_line, size_line = [], []
        for value in values:
            name = f"scaling-{title}-{value}"
            times, size = measure(place.make_set(name, **shape(value)))
            place.drop(name)
            time_line.append((value, quantile(times, 0.5), min(times), max(times)))
            size_line.append((value, size, size, size))
        plots += [lines(f"CPU time of a byte against {x_name}", x_name, "ns/byte", {"mcr pack": time_line}),
                  lines(f"Compression against {x_name}", x_name, "raw ÷ stored", {"mcr pack": size_line})]
        flat[title] = time_line[-1][1] / time_line[0][1]
    files = place.make_set("groups", ranks=32, variables=8, elements=total // 32 // 64)
    time_line, size_line = [], []
    for size in (1, 4, 16, 32):
        costs = [place.pack(files[i:i + size], "-j", 1) for i in range(0, 32, size)]
        seconds, raw = sum(c.cpu for c in costs), sum(c.report["raw_bytes"] for c in costs)
        stored = sum(c.report["container_bytes"] for c in costs)
        time_line.append((size, seconds * 1e9 / raw, seconds * 1e9 / raw, seconds * 1e9 / raw))
        size_line.append((size, raw / stored, raw / stored, raw / stored))
    place.drop("groups")
    plots += [lines("CPU time of a byte against group size", "ranks in a group", "ns/byte", {"mcr pack": time_line}),
              lines("Compression against group size", "ranks in a group", "raw ÷ stored", {"mcr pack": size_line})]
    return [Figure(group, "CPU time of a byte: 64 ranks ÷ 1", flat["ranks"], ("<=", 1.1))], {group: plots}


def storages(place):
    """How long the program waits, and how long until all is durable, on four kinds of storage."""
    group = "Storage: native, mcr and filters, seen by the program and until durable"
    ranks, elements = 4, (1 if place.quick else 4) * 65536
    rounds = 1 if place.quick else 3
    kinds = {"memory": (False, None), "disk, fsync": (True, None), "100 MB/s a stream": (False, 100e6),
             "20 MB/s a stream": (False, 20e6)}
    ways = ["native", "mcr", "gzip", "zstd"]
    seen, durable, figures = {}, {}, []
    for kind, (on_disk, rate) in kinds.items():
        for turn in range(rounds):
            for way in ways:
                wall, waited = job(place, way, ranks, elements, on_disk, rate)
                seen.setdefault((kind, way), []).append(waited)
                durable.setdefault((kind, way), []).append(wall)
        pairs = [m / n for m, n in zip(seen[kind, "mcr"], seen[kind, "native"])]
        figures.append(Figure(group, f"{kind}: program waits, mcr ÷ native", pairs, ("<=", 1.0)))
        figures += [Figure(group, f"{kind}: program waits, {way} ÷ native", [m / n for m, n in zip(seen[kind, way], seen[kind, "native"])])
                    for way in ways[2:]]
        figures += [durable_figure(group, kind, {way: durable[kind, way] for way in ways}, 0.75 if rate else None),
                    Figure(group, f"{kind}: until durable, mcr ÷ zstd 1 as a filter",
                           [m / z for m, z in zip(durable[kind, "mcr"], durable[kind, "zstd"])], ("<=", 1.0))]
    spread = lambda values: (quantile(values, 0.5), min(values), max(values))
    rows = lambda table: {kind: [spread(table[kind, way]) for way in ways] for kind in kinds}
    return figures, {group: [bars(f"The program waits ({ranks} ranks × {elements * 64 // MIB} MiB)", "s", rows(seen), ways),
                             bars("Until all is durable, from the programs' start", "s", rows(durable), ways)]}


def busy_seconds():
    """CPU time of all processors since the machine was started."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # but idle and waiting for a disk


def until_durable(place):
    """Time until all is durable, by the size of a rank's file."""
    group = "Until durable, by size: 4 ranks, storage of 100 MB/s a stream and 200 MB/s for all"
    figures = []
    for mib in (4,) if place.quick else (16, 64, 256):
        ways = ("native", "mcr", "mcr fast", "zstd")
        durable, busy = {way: [] for way in ways}, {way: [] for way in ways}
        for turn in range(1 if place.quick else 3):
            for way in ways:
                before = busy_seconds()
                durable[way].append(job(place, way, ranks=4, elements=mib * MIB // 64, rate=100e6)[0])
                busy[way].append(busy_seconds() - before)
        size = f"{mib} MiB a rank"

        def ratios(of, way, other):
            return [a / max(b, 0.01) for a, b in zip(of[way], of[other])]

        figures += [durable_figure(group, size, durable, 0.75),
                    Figure(group, f"{size}: until durable, mcr ÷ zstd 1 as a filter", ratios(durable, "mcr", "zstd"), ("<=", 1.0)),
                    Figure(group, f"{size}: until durable, mcr with profile=fast ÷ native", ratios(durable, "mcr fast", "native")),
                    Figure(group, f"{size}: until durable, mcr with profile=fast ÷ zstd 1 as a filter", ratios(durable, "mcr fast", "zstd")),
                    Figure(group, f"{size}: CPU time of the machine, mcr ÷ zstd 1 as a filter", ratios(busy, "mcr", "zstd"))]
    return figures, {}


def restored(place, container, rate=None):
    """Seconds until all ranks' files of a container are in memory."""
    env = place.throttled(container.parent, rate, 2 * rate) if rate else {}
    return run([place.mcr, "unpack", "-f", container, "-d", place.directory("restored", disk=False)], env=env).wall


def read_natively(place, files, rate=None):
    """Seconds until the native files, read at the same time, are in memory."""
    env = place.throttled(files[0].parent, rate, 2 * rate) if rate else {}
    return together([["dd", f"if={file}", "of=/dev/null", "bs=1M", "status=none"] for file in files], [env] * len(files))[0]


def restart(place):
    """Time to read all ranks' data into memory: from a container, and from the native files."""
    group = "Restart: all ranks' data in memory, from a container ÷ from native files"
    files = place.make_set("restart", ranks=8, variables=8, elements=(1 if place.quick else 2) * 131072)
    container = place.directory("restart-container") / "set.h5"
    run([place.mcr, "pack", "-o", container, *files])
    figures, rows = [], {}
    for title, rate, bound in (("memory", None, None), ("1 GB/s a stream, 2 GB/s shared", 1e9, 1.0), ("100 MB/s a stream, 200 shared", 100e6, 1.0), ("20 MB/s, 40 shared", 20e6, 1.0)):
        pairs, _, _ = ratios(lambda: restored(place, container, rate), lambda: read_natively(place, files, rate),
                             1 if place.quick else 5)
        figure = Figure(group, title, pairs, bound and ("<=", bound), note="" if rate else "bounded by decoding, checks and the copy")
        figures.append(figure)
        rows[title[:22]] = [(figure.value, figure.low, figure.high)]
    place.drop("restart")
    return figures, {group: [bars("container ÷ native files", "×", rows, ["time until all data is in memory"])]}


def interference(place):
    """A solver that computes on all cores while the leader drains a checkpoint."""
    group = "Interference: a compute-bound solver on all cores, one checkpoint every 30 s of work"
    cores = len(os.sched_getaffinity(0))
    elements, work = (131072, 2) if place.quick else (2097152, 30)
    burn = ["python3", "-c", "import sys,time\nn=int(sys.argv[1])\nt=time.perf_counter()\nx=0\nfor i in range(n): x+=i*i\nprint(time.perf_counter()-t)"]
    unit = float(run([*burn, 2000000]).text) / 2000000
    drains = {"idle": [], "busy": []}

    def drained(cores_are, behind):
        """Seconds that `behind` takes while a leader drains parts that ranks have just published."""
        directory = place.directory("interference")
        env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")} | captured(place, "exit=leave")
        write_by_ranks(place, directory, cores, elements, env)
        begin = time.time()
        seconds = behind()
        while not (containers := list(directory.rglob("set-*.h5"))):
            if time.time() - begin > 600:
                raise Failed("no container after ten minutes")
            time.sleep(0.02)
        drains[cores_are].append(containers[0].stat().st_mtime - begin)
        return seconds

    def solve():
        return together([[*burn, int(work / unit)]] * cores, [{}] * cores)[0]

    rounds = 1 if place.quick else 3
    pairs, _, _ = ratios(lambda: drained("busy", solve), solve, rounds)
    for _ in range(rounds):
        drained("idle", lambda: None)
    place.drop("interference")
    return [Figure(group, f"solver's time, drain of {elements * 64 / MIB:.0f} MiB a core on ÷ off", pairs, ("<=", 1.03)),
            Figure(group, "the drain behind it takes", drains["busy"], ("<=", 30), "s"),
            Figure(group, "the same drain on idle cores", drains["idle"], None, "s")], {}


def model(place):
    """PCCR's performance model, with the codecs' speed and ratio measured here as input. A model, not a measurement."""
    group = "MODEL, no measurement: where compression pays on 1 to 100,000 ranks"
    files = place.make_set("model", ranks=4, variables=8, elements=131072)
    cost = place.pack(files, "-j", 1)
    ratio = cost.report["raw_bytes"] / cost.report["container_bytes"]
    speed = cost.report["raw_bytes"] / cost.cpu
    drawn = json.loads(run(["python3", place.source / "bench/model/checkpoint_model.py", "--speed", f"{speed:.0f}", "--ratio", f"{ratio:.3f}",
                            "--copy-speed", "2000000000", "--json"]).text)
    series = {}
    for row in drawn["rows"]:
        for name, value in row.items():
            if name != "processes":
                series.setdefault(name, []).append((row["processes"], value, value, value))
    figures = [Figure(group, "measured ratio", ratio, None, "×", more_is_better=True),
               Figure(group, "measured speed of a thread", speed / 1e6, None, "MB/s", more_is_better=True)]
    return figures, {group: [lines("Time of a checkpoint, 1 GB a process", "processes", "seconds", series, y_log=True)]}


def memory_stage(place):
    """Checkpoints of two sizes into node memory and into files, as in the tables of papers on memory-mapped
    checkpoints."""
    group = "Memory stage against files: 4 ranks, what the program waits for"
    ranks, steps, pause_ms, rounds = 4, 6, 1000, 1 if place.quick else 3
    ways = {"memory, mcr": ("mcr", False), "memory, files": ("native", False), "disk with fsync, files": ("native", True)}
    figures, rows = [], {}

    def waits(way, on_disk, elements):
        """Seconds that the slowest rank waited, for each step."""
        directory = place.directory("steps", on_disk)
        for step in range(steps):
            (directory / f"step.{step:04}").mkdir()
        env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")} | (captured(place, "profile=balanced") if way == "mcr" else {})
        options = ["--steps", steps, "--pause", pause_ms, *(["--fsync", 1] if on_disk and way != "mcr" else [])]
        _, printed = write_by_ranks(place, directory, ranks, elements, env, *options)
        place.drop("steps")
        return [max(float(text.split()[step]) for text in printed) for step in range(steps)]

    asked = {(True, "memory, files"): ("<=", 1.1), (True, "disk with fsync, files"): None,
             (False, "memory, files"): ("<=", 0.9), (False, "disk with fsync, files"): ("<=", 0.9)}
    for kind, elements in (("2 MiB a rank (CoMD-like)", 32768), ("24 MiB a rank (LULESH-like)", 393216)):
        seen = {name: [] for name in ways}
        for turn in range(rounds):
            for name, (way, on_disk) in ways.items():
                seen[name].append(waits(way, on_disk, elements))
        for which, pick in (("first checkpoint of a job", slice(0, 1)), (f"later ones, {pause_ms / 1000:.0f} s between", slice(1, None))):
            picked = {name: [seconds for job_seconds in values for seconds in job_seconds[pick]] for name, values in seen.items()}
            for name in ("memory, files", "disk with fsync, files"):
                figures.append(Figure(group, f"{kind}, {which}: mcr ÷ {name}",
                                      [m / n for m, n in zip(picked["memory, mcr"], picked[name])], asked[which.startswith("first"), name]))
            rows[f"{kind.split(' (')[0]}, {which.split()[0]}"] = [(quantile(values, 0.5), min(values), max(values)) for values in picked.values()]
    return figures, {group: [bars("The program waits", "s", rows, list(ways))]}


def lag(place):
    """What the program waits in all for checkpoints that follow one another at once, so that creates wait for the leader
    (lag=)."""
    group = "Checkpoints without a pause between them: 4 ranks, 4 MiB each, what the program waits for"
    ranks, steps, elements, rounds = 4, 8, 65536, 1 if place.quick else 3
    ways = {"native": None, "mcr": "profile=balanced", "mcr, lag=off": "profile=balanced;lag=off"}
    figures, rows = [], {}

    def waits(settings, rate):
        directory = place.directory("lag")
        for step in range(steps):
            (directory / f"step.{step:04}").mkdir()
        env = {"HDF5_PLUGIN_PATH": str((place.throttled_prefix() if rate else place.prefix) / "lib/mcr/plugin")}
        env |= captured(place, settings) if settings else {}
        if rate:
            env |= place.throttled(directory, rate, rate * 2) | {"THROTTLE_READS": "0"}
        _, printed = write_by_ranks(place, directory, ranks, elements, env, "--steps", steps)
        place.drop("lag")
        return max(sum(float(seconds) for seconds in text.split()) for text in printed)

    for kind, rate in (("memory", None), ("100 MB/s a stream", 100e6), ("20 MB/s a stream", 20e6)):
        seen = {way: [] for way in ways}
        for _ in range(rounds):
            for way, settings in ways.items():
                seen[way].append(waits(settings, rate))
        for way in list(ways)[1:]:
            figures.append(Figure(group, f"{kind}: {way} ÷ native", [m / n for m, n in zip(seen[way], seen["native"])],
                                  note=f"{quantile(seen[way], 0.5):.2f} s, native {quantile(seen['native'], 0.5):.2f} s"))
        rows[kind] = [(quantile(values, 0.5), min(values), max(values)) for values in seen.values()]
    return figures, {group: [bars(f"The program waits for {steps} checkpoints", "s", rows, list(ways))]}


def end_to_end(place):
    """Time of a checkpoint until it is durable, and of a restart, by number of ranks, as in mcrEngine's last
    figures."""
    group = "End to end on storage of 100 MB/s a stream, 200 MB/s for all: 4 MiB a rank"
    rate, rounds = 100e6, 1 if place.quick else 5
    ways = ("native", "mcr paper", "mcr balanced")
    written, read, figures = {way: [] for way in ways}, {way: [] for way in ways}, []
    for ranks in (2, 8) if place.quick else (2, 4, 8, 16):
        files = place.make_set("end-to-end", ranks=ranks, variables=8, elements=65536)
        containers = {}
        for way in ways[1:]:
            containers[way] = place.directory(f"end-to-end-{way[4:]}") / "set.h5"
            run([place.mcr, "pack", "--profile", way[4:], "-o", containers[way], *files])
        for times, measured in ((written, lambda way: job(place, way, ranks, 65536, rate=rate)[0]),
                                (read, lambda way: restored(place, containers[way], rate) if way in containers
                                 else read_natively(place, files, rate))):
            seconds = {way: [] for way in ways}
            for turn in range(rounds):
                for way in ways:
                    seconds[way].append(measured(way))
            for way in ways:
                times[way].append((ranks, quantile(seconds[way], 0.5), min(seconds[way]), max(seconds[way])))
                if way != "native":
                    what = "checkpoint" if times is written else "restart"
                    figures.append(Figure(group, f"{ranks} ranks, {what}: {way} ÷ native",
                                          [m / n for m, n in zip(seconds[way], seconds["native"])]))
        place.drop("end-to-end")
    return figures, {group: [lines("A checkpoint until it is durable", "ranks", "seconds", written),
                             lines("All ranks' data in memory again", "ranks", "seconds", read)]}


def many_files(place):
    """Small files of one process, one after another: the cost of a file for the file system and for a leader."""
    count = 200 if place.quick else 10000
    group = f"Many small files: one process writes {count} files of 4 KB and ends"
    program = place.build / "test/programs/many_files"
    env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")}
    figures, listed = [], []
    for kind, on_disk in (("memory", False), ("disk", True)):
        wall, read, written = {"native": [], "mcr": []}, {"native": [], "mcr": []}, {"native": [], "mcr": []}
        for turn in range(1 if place.quick else 3):
            for way in wall:
                directory = place.directory("files", on_disk)
                begin = time.monotonic()
                run([program, "write", directory, count, 4096], env=env | captured(place, "") if way == "mcr" else {})
                wall[way].append(time.monotonic() - begin)
                begin = time.monotonic()
                run([program, "read", directory, count, 4096], env=env | captured(place, "") if way == "mcr" else {})
                read[way].append(time.monotonic() - begin)
                directory = place.directory("files", on_disk)
                begin = time.monotonic()
                run([program, "write", directory, count, 4096], env=env | captured(place, "exit=leave") if way == "mcr" else {})
                written[way].append(time.monotonic() - begin)
                while way == "mcr" and any((place.memory / "stage").iterdir()):  # the leader goes on
                    time.sleep(0.01)
        begin = time.monotonic()
        run([place.mcr, "verify", directory])
        listed.append(Figure(group, f"{kind}: mcr verify of {count} files", time.monotonic() - begin, unit="s"))
        for what, seconds, asked in (("the program writes and ends (exit=leave)", written, ("<=", 1.5)), ("until all is durable", wall, ("<=", 2.0)),
                                     ("opened and read again", read, None)):
            figures.append(Figure(group, f"{kind}: {what}, mcr ÷ native", [m / n for m, n in zip(seconds["mcr"], seconds["native"])], asked,
                                  note=", ".join(f"{way} {quantile(values, 0.5):.2f} s" for way, values in seconds.items())))
    return figures + listed, {}


ALL = [application_cost, first_file, first_checkpoint, first_set, many_variables_of_steps, small_job, job_ends, many_files, storages, until_durable, memory_stage, lag, end_to_end, leader_throughput, leader_memory, interference, page_cache,
       many_variables, scaling, full_node, full_node_restart, restart, restart_time, restart_decoding, restart_memory, partial_reads, kept_sets, model]
