"""Mutations of data sets and of the framework of statements: file, old text, new text, tests."""

_SOURCE, _TSOURCE = "data/_source.py", "tests/data/test_source.py"
_TREC, _TCIFAR = "tests/data/test_recordings.py", "tests/data/test_cifar.py"
_TOWN, _TWORDS = "tests/data/test_own_data_sets.py", "tests/data/test_sentiment_data.py"
_F = "tests/statements/test_framework.py tests/statements/test_verdicts.py"
_SHARP = "tests/statements/test_sharpness.py tests/statements/test_verdicts.py"
_ERRATA = "tests/statements/test_verdicts.py"
_VERIFY, _TRIAL, _INSTANCE = (
    "statements/_verify.py",
    "statements/_trial.py",
    "statements/_instance.py",
)
_STATEMENT, _PAGE = "statements/_statement.py", "statements/_errata.py"

DATA = [
    # What is at hand, what is fetched.
    (_SOURCE, "if checksum is not None and found != checksum:", "if False:", _TSOURCE),
    (_SOURCE, "            if found != checksum:\n", "            if False:\n", _TSOURCE),
    (_SOURCE, "            if checksum is None:\n", "            if False:\n", _TREC),
    (_SOURCE, "self.remote.get(file, file)", "file", _TWORDS),
    (_SOURCE, "except Exception as error:  # what a server", "except OSError as error:  # what a server",
     _TSOURCE),
    (_SOURCE, 'part = folder / f".{file}.part"', "part = folder / file", _TSOURCE),
    # Recordings.
    ("data/_recording.py", "np.load(file, allow_pickle=False)", "np.load(file, allow_pickle=True)",
     _TREC),
    ("data/_recording.py", 'VELOCITY = ("vx", "vy")', 'VELOCITY = ("vy", "vx")', _TREC),
    ("data/_recording.py", "if not np.isfinite(array).all():", "if np.isnan(array).any():", _TREC),
    ("data/_recording.py", "if not np.allclose(steps, steps[0], rtol=1e-3):", "if False:", _TREC),
    ("data/_somatosensory_cortex.py", 'times, side="right") - 1', 'times, side="left")', _TREC),
    ("data/_somatosensory_cortex.py", "sums / held[:, None]", "sums", _TREC),
    ("data/_synthetic_recording.py", "np.roll(drive[:, i], lag)", "np.roll(drive[:, i], -lag)", _TREC),
    # Images, words, ratings.
    ("data/_cifar.py", "rows[:, label_bytes - 1]", "rows[:, 0]", _TCIFAR),
    ("data/_cifar.py", "planes.transpose(0, 2, 3, 1)", "planes.transpose(0, 3, 2, 1)", _TCIFAR),
    ("data/_image_sets.py", "synthetic_images(test, seed=1)", "synthetic_images(test, seed=0)", _TCIFAR),
    ("data/_image_sets.py", "(127.5,) * 3)) / 255", "(127.5,) * 3)) / 1", _TCIFAR),
    ("data/_reviews.py", "rows.get(word, 0)", "rows.get(word, 1)", _TWORDS),
    ("data/_reviews.py", "np.random.default_rng(0).permutation(rows)[:most]", "rows[:most]", _TWORDS),
    ("data/_sst2.py", "[:_TREES]", "", _TWORDS),
    ("data/_glove.py", "or (rows and row.size != rows[0].size)", "", _TWORDS),
    ("data/_jester.py", "np.lexsort((items, users))", "np.lexsort((users, items))", _TOWN),
    ("data/_jester.py", "np.where(np.abs(values) < 1e-100, 0.0, values)", "values", _TOWN),
    ("data/_r_file.py", "self.symbols[(flags >> 8) - 1]", "self.symbols[flags >> 8]", _TOWN),
    ("data/_daisy.py", "table[:, list(outputs)]", "table[:, list(inputs)]", _TOWN),
    # Verdicts.
    (_VERIFY, "any(not trial.met for _, trial in self.printed)",
     "all(not trial.met for _, trial in self.printed)", _F),
    (_VERIFY, "shown = all(not trial.met", "shown = any(not trial.met", _F),
    (_VERIFY, "caught = all(", "caught = any(", _F),
    (_VERIFY, "return self.claim.as_expected is True", "return self.claim.as_expected is not False", _F),
    (_VERIFY, "return self.verdict == self.expected and shown", "return shown", _F),
    (_VERIFY, "return all(one.as_expected for one in", "return any(one.as_expected for one in", _F),
    (_VERIFY, '"shown": not trial.met', '"shown": trial.met', _F),
    (_VERIFY, '"worst_margin_as_printed": _json_number(trial.margin)',
     '"worst_margin_as_printed": trial.margin', _F),
    (_VERIFY, "Trial(1, value, instance, statement.is_met(value))", "Trial(1, value, instance, True)", _F),
    (_VERIFY, "[b for b in broken_hypotheses(statement, instance) if b != instance.without]", "[]", _F),
    (_VERIFY, 'if instance.without not in ("", *statement.without):', "if False:", _F),
    (_VERIFY, "if trial.met and trial.instances < statement.instances:", "if False:", _F),
    (_VERIFY, 'caught[f"without: {hypothesis}"] = not trial.met',
     'caught[f"without: {hypothesis}"] = True', _F),
    (_VERIFY, "caught[name] = not trial.met", "caught[name] = True", _F),
    (_VERIFY, "if instances > _MOST_INSTANCES:", "if False:", _F),
    (_VERIFY, "        expected=statement.expected,\n", "", _F),
    # Trials and instances.
    (_TRIAL, "statement.worst_possible if np.isnan(margin) else margin", "margin", _F),
    (_TRIAL, "statement.is_worse(margin, trial.margin)", "index < 0", _F),
    (_TRIAL, "if until_failure and not trial.met:", "if until_failure:", _F),
    (_INSTANCE, '[seed, index, int.from_bytes(digest, "little")]', '[index, int.from_bytes(digest, "little")]',
     _F),
    (_INSTANCE, '[seed, index, int.from_bytes(digest, "little")]', "[seed, index]", _F),
    (_INSTANCE, "    known = isinstance(header, dict) and header.keys() == kinds.keys()\n",
     "    known = isinstance(header, dict)\n", _F),
    (_INSTANCE, "    if broken != intended:\n", "    if not set(intended) <= set(broken):\n", _F),
    (_INSTANCE, "    array.flags.writeable = False\n", "", _F),
    (_INSTANCE, "type(header[name]) is kind", "header[name] is not None", _F),
    ("statements/_registry.py", " if one.paper == paper]", "]", _F),
    ("statements/_registry.py", "chosen |= found if target == paper else {target: found[target]}",
     "chosen |= found", _F),
    # The bound, and what shows that a statement can fail.
    (_STATEMENT, "else margin >= self.bound", "else margin >= 0", _F),
    (_STATEMENT, "return margin <= self.bound", "return margin < 10 * self.bound", _F),
    (_STATEMENT, "else one < other", "else one > other", _F),
    (_STATEMENT, "else -self.tolerance", "else self.tolerance", _F),
    (_STATEMENT, "*(erratum.constants for erratum in self.errata)", "", _F),
    (_STATEMENT, "if not self.mutations and not self.without:", "if False:", _F),
    ("statements/_shared_numbers.py", "np.isnan(left) | np.isnan(right)", "np.isnan(left)", _F),
    ("statements/_shared_numbers.py", "np.isposinf(left)):", "False):", _F),
    # Errata and sharpness.
    (_PAGE, '" (NOT SHOWN)" if trial.met', '" (NOT SHOWN)" if False', _ERRATA),
    (_PAGE, '"" if trial.met else " (NOT SATISFIED)"', '""', _ERRATA),
    (_PAGE, 'count["glyph"] += bool(erratum.glyph)', 'count["glyph"] += 0', _ERRATA),
    (_PAGE, "if one.errata or one.expected == \"fails\"", "if one.errata", _ERRATA),
    ("statements/_sharpness/_measure.py", "self.signs = [1, -1]", "self.signs = [1]", _SHARP),
    ("statements/_sharpness/_measure.py", "repr((statement.tolerance, statement.instances))", '""',
     _SHARP),
    ("statements/_sharpness/_record.py", 'one.id not in known or known[one.id]["digest"] != digest_of(one)',
     "one.id not in known", _SHARP),
    ("statements/_sharpness/_record.py", "found.sort(key=lambda one: -(", "found.sort(key=lambda one: (",
     _SHARP),
]  # fmt: skip
