"""Makes lexicon.txt: English for the words of other languages (R15).

    python lexicon.py unpacked lexicon.txt

It needs snowballstemmer and polib. `unpacked` is a folder with a folder for each
of these, all permissive; what is taken are facts, which word stands for which,
told by counting over texts of programs that exist in many languages:

    PyPI: django djangorestframework django-oscar wagtail apache-superset
          apache-airflow-core homeassistant jupyterlab-language-pack-*
    npm: typescript@5 @medusajs/dashboard cldr-annotations-full
         cldr-annotations-derived-full
    Debian, source: godot postgresql-15

Words are aligned by IBM's first model in both directions. A line of the file is
a stem and the English for it, under a line that names the language.
"""

import json
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import polib
import snowballstemmer

LANGUAGES = {
    "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "da": "danish", "tr": "turkish", "ru": "russian",
    "ja": None, "zh": None, "ko": None,
}
NAMES = {"zh_hans": "zh", "zh_cn": "zh", "pt_br": "pt"}
# Texts are cut there; longer ones say little about single words.
MOST_WORDS = 24
ROUNDS = 5
LEAST_SEEN, LEAST_ODDS, SECOND = 2, 0.12, 0.55
# What is an English word too stands for something else only where that is clear.
LEAST_ODDS_OF_ENGLISH = 0.35
MOST = 7000
NULL = ""

ENGLISH = snowballstemmer.stemmer("english")
SMALL = set(
    "a about after all also an and any are as at be because been before but by can could did do does "
    "for from had has have he her his how i if in into is it its just me more most my no not now of off "
    "on once only or our out over own please she should so some such than that the their them then "
    "there these they this those through to too under until up very was we were what when where which "
    "while who why will with would you your".split()
)
HOLES = re.compile(r"%\([^)]*\)\w|%[-\d.]*\w|\{[^}]*\}|<[^>]*>|&\w+;|https?:\S+|\[[^\]]*\]\([^)]*\)")
RUNS = re.compile(r"[^\W_]+")
PAIRED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def language(name):
    name = name.replace("-", "_").lower()
    name = NAMES.get(name, name)
    for known in LANGUAGES:
        if name == known or (known not in ("zh", "pt") and name.startswith(known + "_")):
            return known
    return None


def words(text, stemmer):
    """As memory/recall/src/text.rs cuts them; each with the form it has."""
    for run in RUNS.findall(HOLES.sub(" ", text).replace("&", "").lower()):
        rest = run
        while rest:
            found = PAIRED.match(rest)
            if found:
                signs = found.group()
                yield from ((s, s) for s in ([signs] if len(signs) < 2 else map("".join, zip(signs, signs[1:]))))
                rest = rest[len(signs):]
                continue
            found = PAIRED.search(rest)
            word, rest = (rest[: found.start()], rest[found.start():]) if found else (rest, "")
            if len(word) > 1 and not any(sign.isdigit() for sign in word):
                yield (stemmer.stemWord(word) if stemmer else word), word


def flat(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*path, key))
    elif isinstance(value, str):
        yield path, value


def catalogues(root):
    """Messages of gettext, with English as the key."""
    for path in sorted([*root.rglob("*.po"), *root.rglob("*.mo")]):
        place = path.stem if path.parent.name != "LC_MESSAGES" else path.parent.parent.name
        known = language(place)
        if not known:
            continue
        try:
            file = polib.pofile(str(path)) if path.suffix == ".po" else polib.mofile(str(path))
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        for entry in file:
            if entry.msgid and entry.msgstr and not (entry.flags and "fuzzy" in entry.flags):
                yield known, entry.msgid, entry.msgstr


def keyed(root):
    """Files of JSON beside an English one with the same keys."""
    folders = [*root.rglob("en.json"), *root.rglob("locales/en/*.json"), *root.rglob("*.en.json")]
    for english in sorted(folders):
        by_folder = english.parent.name == "en"
        others = english.parent.parent.glob(f"*/{english.name}") if by_folder else english.parent.glob("*.json")
        texts = dict(flat(json.loads(english.read_text())))
        for path in sorted(others):
            known = language(path.parent.name if by_folder else path.stem.split(".")[-1])
            if known and path != english:
                for key, text in flat(json.loads(path.read_text())):
                    if key in texts:
                        yield known, texts[key], text


def diagnostics(root):
    """TypeScript's: the key is the English text."""
    for path in sorted(root.rglob("diagnosticMessages.generated.json")):
        known = language(path.parent.name)
        for key, text in json.loads(path.read_text()).items() if known else ():
            yield known, re.sub(r"_\d+$", "", key).replace("_", " "), text


def annotations(root):
    """Names and keywords of signs."""
    for path in sorted(root.rglob("annotations.json")):
        known = language(path.parent.name)
        english = path.parent.parent / "en" / "annotations.json"
        if not known or path == english:
            continue
        of = lambda file: next(iter(v for v in json.loads(file.read_text()).values()))["annotations"]
        own, theirs = of(path), of(english)
        for sign in own.keys() & theirs.keys():
            yield known, " ".join(theirs[sign].get("tts", [])), " ".join(own[sign].get("tts", []))
            yield known, " ".join(theirs[sign].get("default", [])), " ".join(own[sign].get("default", []))


def align(pairs):
    """The odds of an English word for another, in the first model."""
    odds = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        counts, totals = defaultdict(float), defaultdict(float)
        for sources, targets in pairs:
            for target in targets:
                each = [odds[target, source] for source in sources]
                whole = sum(each)
                for source, one in zip(sources, each):
                    counts[target, source] += one / whole
                    totals[source] += one / whole
        odds = defaultdict(float, {key: value / totals[key[1]] for key, value in counts.items() if value > 1e-3})
    return odds


def lexicon(texts, name):
    stemmer = snowballstemmer.stemmer(name) if name else None
    forms, seen, pairs = defaultdict(Counter), Counter(), []
    for english, other in texts:
        ours = {}
        for stem, word in words(english, ENGLISH):
            if word not in SMALL:
                ours[stem] = word
                forms[stem][word] += 1
        theirs = {stem for stem, _ in words(other, stemmer)}
        if ours and theirs and len(ours) <= MOST_WORDS and len(theirs) <= MOST_WORDS * 2:
            pairs.append(([NULL, *ours], [*theirs]))
            seen.update(theirs)
    forth = align(pairs)
    back = align([([NULL, *theirs], ours[1:]) for ours, theirs in pairs])
    found = defaultdict(list)
    for (target, source), one in forth.items():
        both = math.sqrt(one * back.get((source, target), 0.0))
        if source != NULL and both >= LEAST_ODDS:
            found[target].append((both, source))
    lines = {}
    for stem, _ in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
        best = sorted(found.get(stem, ()), reverse=True)
        if seen[stem] < LEAST_SEEN or not best or len(lines) == MOST:
            continue
        if stem in forms and best[0][0] < LEAST_ODDS_OF_ENGLISH:
            continue
        kept = [s for odds, s in best[:2] if odds >= best[0][0] * SECOND]
        english = [forms[s].most_common(1)[0][0] for s in kept]
        if english != [stem]:
            lines[stem] = " ".join(english)
    return lines


def main(root, out):
    texts = defaultdict(set)
    for source in (catalogues, keyed, diagnostics, annotations):
        for known, english, other in source(root):
            if english != other:
                texts[known].add((english, other))
    with open(out, "w") as file:
        for code, name in LANGUAGES.items():
            lines = lexicon(sorted(texts[code]), name)
            print(code, len(texts[code]), "texts", len(lines), "words", file=sys.stderr)
            file.write(f"={code}\n" + "".join(f"{stem}\t{english}\n" for stem, english in sorted(lines.items(), key=lambda l: l[0].encode())))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
