"""Mutations of what docs/guarantees.md promises: file, old text, new text, tests."""

_CLI = "tests/cli/test_cli_"
_RECEIVED, _TEXT = f"{_CLI}received.py -k link", f"{_CLI}text.py -k"
_CRAFTED = "tests/store/test_store_crafted.py -k every_crafted"
_OWN, _IMAGE = f"{_CLI}own_errors.py", "tests/store/test_store_results.py -k"
_VALUES = "tests/reproduction/test_fingerprint_values.py"
_PLUGINS = "tests/reproduction/test_plugin_workers.py"
_FALSE, _LIVE = f"{_CLI}false_success.py -k", "reproduction/_live_values.py"
_DOORS = "tests/project/test_doors.py --deselect tests/project/test_doors.py::test_no_door_lets_an_odd_value_in_without_a_word"

PROMISES = [
    # Stores from elsewhere.
    ("_files.py", 'getattr(os, "O_NOFOLLOW", 0) | getattr', "getattr", _CRAFTED),
    ("_files.py", "    if path.is_symlink():\n        raise", "    if False:\n        raise", _RECEIVED),
    ("cli/_status.py", "store = Store.existing(path, read_only=True)",
     "store = Store.existing(path)", f"{_CLI}received.py -k read_write"),
    ("store/_archive.py", " or len(set(names)) != len(names)", "", _CRAFTED),
    ("store/_archive.py", "if not plain or info.compress_size != info.file_size:", "if False:", _CRAFTED),
    ("store/_archive.py", "if sum(info.file_size for info in infos) > self._size:", "if False:",
     "tests/store/test_store_crafted.py -k inside_each_other"),
    ("store/_index.py", "if not self.seen and all(isinstance(e, Foreign", "if 0 and all(isinstance(e, Foreign",
     "tests/store/test_store_crafted.py -k digit"),
    ("store/_store.py", "            theirs.fit(plan)\n", "            pass\n",
     "tests/store/test_store_crafted.py -k not_merged"),
    # Whose numbers they are.
    ("reproduction/_changed_code.py", "if other is not None and other not in kept",
     "if other == 1", f"{_CLI}changed.py -k refused"),
    (_LIVE, "or repr(written) == repr(value)", "or True", _VALUES),
    (_LIVE, "written.defaults = [_other(node, value)", "written.defaults = [node", _VALUES),
    (_LIVE, "yield from () if digest is None else", "yield from () if True else", _VALUES),
    (_LIVE, "by_functions | changing", "changing", _VALUES),
    ("experiments/_experiment.py", "remember_sources(cls.__module__)", "id(cls)", _VALUES),
    ("reproduction/_fingerprint.py", "if changed is not None:", "if False:", _VALUES),
    ("reproduction/_fingerprint.py", "if name in at_once else ()", "if True else ()", _VALUES),
    ("_own_modules.py", 'top == home.partition(".")[0] or _is_own(path)', "_is_own(path)", _PLUGINS),
    ("reproduction/_cell.py", "_code_here(kind) == self.code", "_code_here(kind) in (self.code, None)",
     _PLUGINS),
    ("reproduction/_cell.py", "            _class_at.cache_clear()\n", "", _PLUGINS),
    ("reproduction/_cell.py", "here = kind is self.experiment and self.made_in == _THIS_PROCESS",
     "here = kind is self.experiment", _PLUGINS),
    ("reproduction/_missing.py", "or not _is_stored(experiment, preset, results)", "or True",
     f"{_CLI}missing.py -k nothing_is"),
    ("reproduction/_missing.py", "lacking is None or fresh or", "lacking is None or",
     f"{_CLI}missing.py -k nothing_is"),
    ("sweep/_generator.py", "with jax.default_prng_impl(_GENERATOR), jax.threefry_partitionable",
     "with jax.threefry_partitionable", "tests/sweep/test_generator.py"),
    ("store/_results.py", 'and record.get("bytes") == _digest_of_files(target)', "", f"{_IMAGE} harm"),
    ("store/_results.py", "{part: store.digest(part) for", "{part: part for", f"{_IMAGE} replaced"),
    # A cell of one's own that goes wrong.
    ("reproduction/_cell.py", "setattr(error, PLACE, place_in_own_file(error))",
     "setattr(error, PLACE, None)", _OWN),
    ("sweep/_run.py", "if fresh and not isinstance(error, _WOULD_RAISE_AGAIN):", "if fresh:", _OWN),
    ("sweep/_run.py", "failures[position] = failure._replace(record=", "_ = failure._replace(record=",
     _OWN),
    ("cli/_debugger.py", "pdb.post_mortem(error.__traceback__)", "pass", _OWN),
    ("reproduction/_declaration.py", "if not isinstance(given, Mapping):", "if False:",
     "tests/reproduction/test_registry.py"),
    ("sweep/_task.py", "except (Exception, KeyboardInterrupt):", "except BaseException:",
     f"{_FALSE} leaving"),
    ("cli/_reproduce.py", "        except (Exception, SystemExit) as error:\n            if isinstance",
     "        except ArithmeticError as error:\n            if isinstance", f"{_FALSE} breaks"),
    # Work, locks and numbers.
    ("store/_store.py", "if self._last_plan is not plan:", "if True:",
     "tests/sweep/test_sweep_scale.py -k ten_thousand"),
    ("sweep/_run.py", "if time.monotonic() - self._moved < _PATIENCE_SECONDS:", "if True:",
     f"{_TEXT} hangs"),
    ("reproduction/_run.py", "    with store.at_work(), _workers(", "    with _workers(",
     f"{_TEXT} fresh"),
    ("sweep/_dask.py", 'dashboard_address="127.0.0.1:0",\n                        worker',
     'dashboard_address=":0",\n                        worker', f"{_TEXT} dashboard"),
    ("experiments/_parameter.py", "_LARGEST = 2**63 - 1", "_LARGEST = 2**64 - 1",
     "tests/cli/test_cli_bounds.py"),
    ("_doors.py", "if not _all_finite(answer) and _all_finite", "if False and _all_finite", _DOORS),
    # Paths and text.
    ("cli/_text.py", "c if c.isprintable() or c in", "c if True or c in", f"{_TEXT} markup"),
    ("cli/_text.py", "return escape(plain(text))", "return plain(text)", f"{_TEXT} markup"),
    ("cli/_text.py", 'reconfigure(errors="replace")', "pass", f"{_TEXT} unicode"),
    ("store/_store.py", "self.path = Path(os.path.expanduser(path))", "self.path = Path(path)",
     "tests/store/test_store.py -k tilde"),
    ("_files.py", "if not is_temporary(entry.name) or", 'if not entry.name.endswith(".tmp") or',
     "tests/store/test_store_together.py -k stale"),
    ("sweep/_dask.py", "except (TypeError, RuntimeError) as error:  # tls", "except ArithmeticError as error:  # tls",
     f"{_TEXT} certificates"),
    ("cli/_verify.py", "write_atomically(path, page.encode())", "path.write_bytes(page.encode())",
     f"{_CLI}verify.py -k errata"),
    # What is checked and cleaned.
    ("store/_check.py", "        if state is not None:", "        if False:", f"{_CLI}check.py"),
    ("store/_check.py", "if not is_held(", "if False and not is_held(", f"{_CLI}check.py"),
    ("store/_check.py", "if _OLD.fullmatch(name) and", "if False and", f"{_CLI}check.py"),
    ("store/_check.py", "if not Path(place, name).is_symlink()", "if True", f"{_CLI}check.py"),
    ("cli/_clean.py", "    if remove:\n", "    if True:\n", f"{_CLI}check.py"),
    ("draw/_save.py", "return with_steady_names(data) if kind", "return data if kind",
     "tests/draw/test_save_steady.py"),
]  # fmt: skip
