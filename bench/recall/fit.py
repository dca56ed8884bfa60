"""Fits the gate (R13): writes memory/recall/src/gate/weights.rs.

    cargo run --release -p everfold-bench-recall -- --features features.jsonl
    python bench/recall/fit.py features.jsonl memory/recall/src/gate/weights.rs

It needs numpy. Two logistic models: CALLS says whether a message calls for a
memory at all, by its best hit; HELPS says which hit helps, and is fitted on
messages that want something. Both leave out one project in turn to be measured;
the bars are set on those predictions, so that at most one message in twenty
that wants nothing gets a body and one in five a line, then both are fitted on
everything. Of the pastes, the even ones are fitted on and the odd ones measured.
A feature that one model does not use has no weight there.
"""

import json
import sys

import numpy as np

RIDGE = 3.0
PASTE_WEIGHT = 0.25
BODY_SHARE, LINE_SHARE = 0.045, 0.18
LEAST_BODY, LEAST_LINE = 0.0, -4.0
MOST = 3
CALLS = ["likeness", "words", "score", "distinctive", "known_coverage", "asked", "terms", "unknown",
         "asks", "ours", "makes", "length"]
HELPS = ["head_coverage", "likeness_lead", "of_best", "matched", "head_matched", "distinctive",
         "rarest", "words"]


def logistic(x, y, weight):
    """Weights and bias for values as they are, by Newton's method."""
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.hstack([(x - middle) / spread, np.ones((len(x), 1))])
    keep = np.diag([RIDGE] * x.shape[1] + [0.0])
    w = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ w))
        h = (z * (weight * p * (1 - p))[:, None]).T @ z + keep
        w -= np.linalg.solve(h, z.T @ (weight * (p - y)) + keep @ w)
    slope = w[:-1] / spread
    return slope, w[-1] - slope @ middle


class Gate:
    def __init__(self, cases, names, calls, helps):
        self.calls, self.helps = [names.index(n) for n in calls], [names.index(n) for n in helps]
        wanting = [c for c in cases if c["wants"]]
        x = np.array([h["values"] for c in wanting for h in c["hits"]])[:, self.helps]
        y = np.array([float(h["wanted"]) for c in wanting for h in c["hits"]])
        self.help = logistic(x, y, np.ones(len(y)))
        x = np.array([self.order(c)[0][1] for c in cases])[:, self.calls]
        y = np.array([float(c["wants"]) for c in cases])
        weight = np.array([PASTE_WEIGHT if c["set"] == "pastes" else 1.0 for c in cases])
        self.call = logistic(x, y, weight)

    def order(self, case):
        """Hits as (odds, values, wanted), the likeliest first."""
        values = np.array([h["values"] for h in case["hits"]])
        odds = values[:, self.helps] @ self.help[0] + self.help[1]
        return [(odds[i], values[i], case["hits"][i]["wanted"]) for i in np.argsort(-odds, kind="stable")]

    def odds(self, case):
        best = self.order(case)
        call = best[0][1][self.calls] @ self.call[0] + self.call[1]
        return call, [(odds, wanted) for odds, _, wanted in best]


def predictions(cases, names, calls, helps):
    """Each message by a gate that has not seen its project."""
    told = []
    for fold in sorted({c["fold"] for c in cases}):
        is_even = lambda c: c["set"] != "pastes" or c["at"] % 2 == 0
        gate = Gate([c for c in cases if c["fold"] != fold and is_even(c)], names, calls, helps)
        told += [(c, *gate.odds(c)) for c in cases if c["fold"] == fold and (c["set"] != "pastes" or c["at"] % 2)]
    return told


def bars(told, least_body, least_line):
    """The odds of a call that so many messages of the silent ones pass."""
    def at(share, least):
        calls = [call for c, call, hits in told if c["kind"] == "none" and hits[0][0] >= least]
        silent = sum(c["kind"] == "none" for c, _, _ in told)
        calls = sorted(calls, reverse=True) + [-9.0] * silent
        return calls[int(silent * share)] + 1e-4

    return at(BODY_SHARE, least_body), at(LINE_SHARE, least_line)


def report(told, sure, possible, least_body, least_line):
    kinds = {}
    for case, call, hits in told:
        bodies = [w for o, w in hits if call >= sure and o >= least_body][:MOST]
        lines = [w for o, w in hits[len(bodies):] if call >= possible and o >= least_line][:MOST]
        for kind in [case["kind"]] + (["(wanting)"] if case["wants"] else []):
            k = kinds.setdefault(kind, np.zeros(7))
            k += [1, any(bodies), any(bodies + lines), bool(bodies), bool(bodies + lines), len(bodies), sum(bodies)]
    for kind, k in sorted(kinds.items()):
        print(f"{kind:15} {int(k[0]):4} body {k[1]/k[0]:.3f} shown {k[2]/k[0]:.3f} "
              f"a body {k[3]/k[0]:.3f} anything {k[4]/k[0]:.3f} wanted bodies {k[6]/max(k[5],1):.3f}")
    w = kinds["(wanting)"]
    return w[1] / w[0], w[2] / w[0], w[6] / max(w[5], 1)


def rust(name, what, model, names, used):
    slope, bias = model
    values = [slope[used.index(n)] if n in used else 0.0 for n in names]
    rows = "\n".join(f"        {v:.4f}, // {n}" for v, n in zip(values, names))
    return (f"/// {what}\npub(super) const {name}: Logistic = Logistic {{\n    bias: {bias:.4f},\n"
            f"    weights: [\n{rows}\n    ],\n}};\n")


def load(path):
    lines = [json.loads(line) for line in open(path)]
    names = lines[0]["names"]
    cases = [c for c in lines[1:] if c["set"] in ("prompts of developers", "pastes") and c["hits"]]
    counts = {}
    for c in cases:
        key = (c["set"], c["fold"])
        c["at"] = counts[key] = counts.get(key, -1) + 1
    return names, cases


def main(path, out):
    names, cases = load(path)
    told = predictions(cases, names, CALLS, HELPS)
    sure, possible = bars(told, LEAST_BODY, LEAST_LINE)
    report(told, sure, possible, LEAST_BODY, LEAST_LINE)
    gate = Gate(cases, names, CALLS, HELPS)
    text = '''//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

/// A logistic model.
pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
}

'''
    text += rust("CALLS", "Whether a message calls for a memory, by its best hit.", gate.call, names, CALLS) + "\n"
    text += rust("HELPS", "Whether a hit helps with a message that calls for one.", gate.help, names, HELPS)
    for name, what, value in [
        ("SURE", "Odds of a call from which on bodies are shown.", sure),
        ("POSSIBLE", "Odds of a call from which on lines are shown.", possible),
        ("LEAST_BODY", "Least odds of help for a body.", LEAST_BODY),
        ("LEAST_LINE", "Least odds of help for a line.", LEAST_LINE),
    ]:
        text += f"\n/// {what}\npub(super) const {name}: f64 = {value:.4f};\n"
    open(out, "w").write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
