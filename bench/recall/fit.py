"""Fits the gate (R13): writes memory/recall/src/gate/weights.rs and memory/recall/table/kind.bin.

    cargo run --release -p everfold-bench-recall -- --features features.jsonl
    OMP_NUM_THREADS=1 python bench/recall/fit.py features.jsonl memory/recall
    cargo fmt --all

It needs numpy and scipy. Four small models, fitted on unlike sets together:

KIND is a direction among marks of wording and the table's vectors: messages of
people who mean their own project against messages that anybody could answer. It
is fitted on kinds.txt, the prompts of developers and those of projects/, and gives
one number for a message.
HELPS says which hit helps, and is fitted on messages that want something.
CALLS says whether a message calls for a memory at all, by its best hit, its
length and its kind, and by some of these together: PRODUCTS were taken one by
one as long as they told more of projects that were left out.
ANSWERS says whether the best hit is what is called for.

What is printed are predictions for projects that were left out, whole, of all
four. The bars are set on those, so that at most one prompt of developers in
twenty that wants nothing gets a body and one in five a line. The set of
our own is never fitted on, nor are bars set on it. A feature that a model does
not use has no weight there.
"""

import json
import struct
import sys

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

RIDGE, CALLS_RIDGE, KIND_RIDGE = 3.0, 6.0, 0.1
# Places of marks, and how much a message's vector counts beside its marks.
PLACES, VECTOR_SHARE = 1 << 14, 0.3
FOLDS = 6
BODY_SHARE, LINE_SHARE = 0.045, 0.195
LEAST_BODY, LEAST_LINE = -2.0, -8.0
MOST = 3
PROMPTS, OWN = "prompts of developers", "our own prompts"
FIT = "prompts to fit on"
WEIGHTS = {
    PROMPTS: 1.0,
    FIT: 1.0,
    "strangers to fit on": 0.075,
    "pastes": 0.12,
    "turns of keep.json": 0.3,
    "prompts of sessions": 0.1,
    "prompts of other projects": 0.15,
    "chat turns": 0.1,
    "blocks of turns": 0.1,
}
# What belongs elsewhere counts so many times where a call is told: how a message
# is worded says that it means a project, not that it means this one.
ELSEWHERE = ["strangers to fit on", "prompts of other projects", "prompts of sessions", "turns of keep.json"]
ELSEWHERE_COUNTS = 4.0
# Of a talk's questions, every so manyth.
QUESTIONS = 5
CALLS = ["score", "distinctive", "names", "single", "asked", "typed", "long", "longer", "kind", "nearness"]
PRODUCTS = [
    ("score", "asked"), ("typed", "long"), ("typed", "typed"), ("score", "kind"), ("score", "typed"),
    ("score", "long"), ("typed", "kind"), ("score", "single"), ("kind", "kind"),
]
HELPS = ["score", "words", "likeness_lead", "lead", "lead_in_full", "both", "names", "place"]


def logistic(x, y, weight, ridge, scaled=True):
    """Weights and bias for values as they are, by Newton's method."""
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    if not scaled:
        middle, spread = np.zeros(x.shape[1]), np.ones(x.shape[1])
    z = np.hstack([(x - middle) / spread, np.ones((len(x), 1))])
    keep = np.diag([ridge] * x.shape[1] + [1e-9])
    w = np.zeros(z.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        h = (z * (weight * p * (1 - p))[:, None]).T @ z + keep
        w -= np.linalg.solve(h, z.T @ (weight * (p - y)) + keep @ w)
    slope = w[:-1] / spread
    return slope, w[-1] - slope @ middle


def sparse_logistic(x, y, ridge):
    """The same for many values that are mostly zero, unweighted and unscaled."""

    def loss(w):
        z = x @ w[:-1] + w[-1]
        p = 1 / (1 + np.exp(-np.clip(z, -30, 30)))
        slope = np.append(x.T @ (p - y) + ridge * w[:-1], (p - y).sum())
        return np.logaddexp(0, (1 - 2 * y) * z).sum() + ridge / 2 * w[:-1] @ w[:-1], slope

    w = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return w[:-1], w[-1]


class Kinds:
    """The direction, without some projects."""

    def __init__(self, own, cases):
        self.known = own + [c for c in cases if c["set"] in (PROMPTS, FIT)]
        self.x = sparse.vstack([self.row(c) for c in self.known]).tocsr()
        self.y = np.array([float(c["wants"]) for c in self.known])
        self.fold = np.array([c.get("fold", -1) for c in self.known])
        self.made = {}

    def row(self, case):
        """Marks, and behind them the vector. Made once for each message."""
        if "row" not in case:
            marks = case["marks"]
            places, values = [place for place, _ in marks], [value for _, value in marks]
            marks = sparse.csr_matrix((values, ([0] * len(marks), places)), (1, PLACES))
            vector = sparse.csr_matrix(np.array(case["vector"]) * VECTOR_SHARE)
            case["row"] = sparse.hstack([marks, vector]).tocsr()
        return case["row"]

    def of(self, without):
        if without not in self.made:
            rows = np.flatnonzero(~np.isin(self.fold, list(without)))
            slope, bias = sparse_logistic(self.x[rows], self.y[rows], KIND_RIDGE)
            parts = np.split(slope, [PLACES])
            scales = [np.abs(part).max() / 127 for part in parts]
            values = [np.round(part / scale).astype(np.int8) for part, scale in zip(parts, scales)]
            self.made[without] = values, scales, bias
        return self.made[without]

    def score(self, case, without):
        values, scales, bias = self.of(without)
        slope = np.concatenate([part * scale for part, scale in zip(values, scales)])
        return float((self.row(case) @ slope)[0] + bias)


class Gate:
    def __init__(self, cases, names, kinds, without):
        self.names, self.kinds, self.without = names, kinds, without
        self.calls, self.helps = [names.index(n) for n in CALLS], [names.index(n) for n in HELPS]
        self.products = [(names.index(a), names.index(b)) for a, b in PRODUCTS]
        wanting = [c for c in cases if c["wants"]]
        x = np.concatenate([c["values"] for c in wanting])[:, self.helps]
        y = np.concatenate([c["wanted"] for c in wanting])
        weight = np.concatenate([[WEIGHTS[c["set"]]] * len(c["wanted"]) for c in wanting])
        self.help = logistic(x, y, weight, RIDGE)
        # A kind is told as for a message that nobody has seen.
        unseen = lambda c: without | {c["fold"]} if c["set"] in (PROMPTS, FIT) else without
        best = [self.best(c, unseen(c)) for c in cases]
        weight = lambda times: np.array([WEIGHTS[c["set"]] * (times if c["set"] in ELSEWHERE else 1.0) for c in cases])
        y = np.array([float(c["wants"]) for c in cases])
        self.call = logistic(np.array([self.crossed(v) for v, _ in best]), y, weight(ELSEWHERE_COUNTS), CALLS_RIDGE)
        y = np.array([wanted for _, wanted in best])
        self.answer = logistic(np.array([v[self.calls] for v, _ in best]), y, weight(1.0), RIDGE)

    def order(self, case):
        return case["values"][:, self.helps] @ self.help[0] + self.help[1]

    def best(self, case, without):
        """What is known of the best hit, and whether it is wanted."""
        at = int(np.argmax(self.order(case)))
        values = case["values"][at].copy()
        values[self.names.index("kind")] = self.kinds.score(case, frozenset(without))
        return values, case["wanted"][at]

    def crossed(self, values):
        return np.concatenate([values[self.calls], [values[a] * values[b] for a, b in self.products]])

    def odds(self, case):
        """Of a call, of an answer, and for each hit of its help and whether it was wanted."""
        odds, (values, _) = self.order(case), self.best(case, self.without)
        call = self.crossed(values) @ self.call[0] + self.call[1]
        answer = values[self.calls] @ self.answer[0] + self.answer[1]
        return (call, answer), [(odds[i], case["wanted"][i]) for i in np.argsort(-odds, kind="stable")]


def predictions(cases, names, kinds):
    """Each message by a gate that has not seen its project."""
    told = []
    for fold in range(FOLDS):
        is_out = lambda c: c["fold"] == fold and "of turns" not in c["set"] and "chat" not in c["set"]
        known = [c for c in cases if c["set"] != OWN and not is_out(c)]
        gate = Gate(known, names, kinds, frozenset({fold}))
        told += [(c, *gate.odds(c)) for c in cases if is_out(c)]
    return told


def bars(told):
    """The odds that so many messages of the silent ones pass: of an answer, and of a call."""
    silent = [(odds, hits) for c, odds, hits in told if c["set"] == PROMPTS and not c["wants"]]

    def at(share, least, which):
        passed = sorted([odds[which] for odds, hits in silent if hits[0][0] >= least], reverse=True)
        return (passed + [-9.0] * len(silent))[int(len(silent) * share)] + 1e-4

    return at(BODY_SHARE, LEAST_BODY, 1), at(LINE_SHARE, LEAST_LINE, 0)


def report(told, sure, possible):
    kinds = {}
    for case, (call, answer), hits in told:
        is_called = call >= possible or answer >= sure
        bodies = [w for o, w in hits if answer >= sure and o >= LEAST_BODY][:MOST]
        lines = [w for o, w in hits[len(bodies):] if is_called and o >= LEAST_LINE][:MOST]
        group = case["set"] + (" (wanting)" if case["wants"] else "")
        keys = [group] + ([f"  {case['kind']}"] if case["set"] == PROMPTS else [])
        for key in keys:
            k = kinds.setdefault(key, np.zeros(7))
            k += [1, any(bodies), any(bodies + lines), bool(bodies), bool(bodies + lines), len(bodies), sum(bodies)]
    for kind, k in sorted(kinds.items()):
        print(f"{kind:34} {int(k[0]):4} body {k[1]/k[0]:.3f} shown {k[2]/k[0]:.3f} "
              f"a body {k[3]/k[0]:.3f} anything {k[4]/k[0]:.3f} unwanted {1 - k[6]/max(k[5], 1):.3f}")


def rust(name, what, model, names, used, products=()):
    slope, bias = model
    values = [slope[used.index(n)] if n in used else 0.0 for n in names]
    rows = "\n".join(f"        {v:.4f}, // {n}" for v, n in zip(values, names))
    crossed = zip(products, slope[len(used):])
    pairs = "".join(
        f"\n        ({names.index(a)}, {names.index(b)}, {v:.4f}), // {a}, {b}" for (a, b), v in crossed
    )
    end = "\n    " if pairs else ""
    return (f"/// {what}\npub(super) const {name}: Logistic = Logistic {{\n    bias: {bias:.4f},\n"
            f"    weights: [\n{rows}\n    ],\n    products: &[{pairs}{end}],\n}};\n")


def load(path):
    lines = [json.loads(line) for line in open(path)]
    names, own, cases, at = lines[0]["names"], [], [], {}
    for c in lines[1:]:
        c["vector"] = np.array(c["vector"])
        if "kind_of" in c:
            own.append(c)
            continue
        key = (c["set"], c["kind"])
        at[key] = at.get(key, -1) + 1
        is_sampled = c["kind"] != "question" or at[key] % QUESTIONS == 0
        if c["hits"] and is_sampled and (c["set"] in WEIGHTS or c["set"] == OWN):
            if c["set"] in (FIT, "strangers to fit on"):
                c["fold"] %= FOLDS
            c["values"] = np.array([h["values"] for h in c["hits"]])
            c["wanted"] = np.array([float(h["wanted"]) for h in c["hits"]])
            cases.append(c)
    return names, own, cases


def write(out, gate, sure, possible, names):
    text = '''//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

/// A logistic model.
pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
    /// Two features, by their places, and what their product weighs.
    pub(super) products: &'static [(usize, usize, f64)],
}

'''
    text += rust("CALLS", "Whether a message calls for a memory, by its best hit.", gate.call, names, CALLS, PRODUCTS) + "\n"
    text += rust("ANSWERS", "Whether the best hit is what is called for.", gate.answer, names, CALLS) + "\n"
    text += rust("HELPS", "Whether a hit helps with a message that calls for one.", gate.help, names, HELPS)
    for name, what, value in [
        ("SURE", "Odds of an answer from which on bodies are shown.", sure),
        ("POSSIBLE", "Odds of a call from which on lines are shown.", possible),
        ("LEAST_BODY", "Least odds of help for a body.", LEAST_BODY),
        ("LEAST_LINE", "Least odds of help for a line.", LEAST_LINE),
    ]:
        text += f"\n/// {what}\npub(super) const {name}: f64 = {value:.4f};\n"
    open(f"{out}/src/gate/weights.rs", "w").write(text)
    (marks, vector), (of_marks, of_vector), bias = gate.kinds.of(frozenset())
    # The vector that is asked about is not made smaller.
    head = struct.pack("<fff", bias, of_marks, of_vector * VECTOR_SHARE)
    open(f"{out}/table/kind.bin", "wb").write(head + marks.tobytes() + vector.tobytes())


def main(path, out):
    names, own, cases = load(path)
    kinds = Kinds(own, cases)
    told = predictions(cases, names, kinds)
    sure, possible = bars(told)
    report(told, sure, possible)
    gate = Gate([c for c in cases if c["set"] != OWN], names, kinds, frozenset())
    write(out, gate, sure, possible, names)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
