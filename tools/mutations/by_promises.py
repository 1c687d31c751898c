"""Mutations of what docs/guarantees.md promises: file, old text, new text, tests."""

_CLI = "tests/cli/test_cli_"
_TEXT, _FALSE, _RECEIVED = f"{_CLI}text.py::", f"{_CLI}false_success.py::", f"{_CLI}received.py::"
_MARKUP = f"{_TEXT}test_text_of_users_is_no_markup_and_no_command_to_the_terminal"
_TOO_MUCH = f"{_CLI}bounds.py::test_too_much_is_one_sentence_at_once"
_NO_DATA = f"{_CLI}missing.py::test_nothing_is_lacking_where_every_cell_is_stored"
_CHECK = f"{_CLI}check.py"
_MENDED = f"{_CHECK}::test_what_is_not_whole_is_said_and_mended"
_LINK = f"{_RECEIVED}test_a_reservation_that_is_a_link_is_not_written_through"
_STORE = "tests/store/test_store"
_CRAFTED = f"{_STORE}_crafted.py::test_every_crafted_part_is_named_set_aside_and_missing"
_POWER = "tests/store/test_power_loss.py::"
_OWN, _IMAGE = f"{_CLI}own_errors.py", f"{_STORE}_results.py"
_VALUES = "tests/reproduction/test_fingerprint_values.py"
_PLUGINS = "tests/reproduction/test_plugin_workers.py"
_LIVE = "reproduction/_live_values.py"
_DOORS = "tests/project/test_doors.py --deselect tests/project/test_doors.py::test_no_door_lets_an_odd_value_in_without_a_word"

PROMISES = [
    # What survives what.
    ("sweep/_agenda.py", "            missing = self._store.missing_keys(keys)\n",
     "            missing = list(range(len(keys)))\n",
     "tests/sweep/test_sweep_together.py::test_random_interleavings_of_two_writers"),
    ("store/_store.py", "enumerate(keys) if key not in where]", "enumerate(keys)]",
     "tests/sweep/test_sweep_killed.py::test_killed_at_random_moments"),
    ("sweep/_processes.py", "            self._forget()\n", "            pass\n",
     "tests/sweep/test_sweep_processes.py::test_a_process_that_dies_fails_its_own_batch_only"),
    # What is atomic.
    ("store/_results.py", "_write(store, plan, located, failed, content, temporary)",
     "_write(store, plan, located, failed, content, target)",
     f"{_IMAGE}::test_a_crash_leaves_the_old_one_or_none_never_a_part_of_one"),
    ("store/_archive.py", "if left or self._file.read() != digest.hexdigest().encode():", "if left:",
     f"{_STORE}.py::test_no_damage_goes_unnoticed"),
    ("store/_store.py", "while os.path.lexists(target := source.with_name(f\"{source.name}.old-{number}\")):\n                number += 1",
     "target = source.with_name(f\"{source.name}.old-1\")\n            shutil.rmtree(target, ignore_errors=True)",
     f"{_STORE}.py::test_move_aside_deletes_nothing"),
    ("reproduction/_run.py", 'if (folder / "store").is_dir():  # else', "if True:  # else",
     f"{_TEXT}test_no_file_of_the_users_is_taken_for_a_temporary_one"),
    ("_files.py", "            os.fsync(file.fileno())\n        temporary", "        temporary",
     f"{_POWER}test_what_was_stored_is_there_after_a_power_cut_at_any_moment"),
    ("store/_index.py", "            except FileNotFoundError:  # another process has",
     "            except OSError:  # another process has",
     f"{_POWER}test_a_disk_that_cannot_be_read_now_moves_nothing"),
    # Stores from elsewhere.
    ("_files.py", 'getattr(os, "O_NOFOLLOW", 0) | getattr', "getattr", _CRAFTED),
    ("store/_reservation.py", "if os.fstat(handle).st_nlink <= 1:", "if True:", _LINK),
    ("_files.py", "    if path.is_symlink():\n        raise", "    if False:\n        raise",
     f"{_CLI}received.py -k link"),
    ("store/_names.py", "_ID.fullmatch(experiment)", "_ID.match(experiment)",
     f"{_RECEIVED}test_a_store_is_named_as_an_experiment_is"),
    ("cli/_status.py", "store = Store.existing(path, read_only=True)",
     "store = Store.existing(path)", f"{_RECEIVED}test_commands_that_read_write_nothing"),
    ("store/_archive.py", "if size != math.prod(shape) * dtype.itemsize:", "if False:",
     f"{_STORE}_crafted.py::test_crafted_parts_take_little_memory"),
    ("store/_store.py", "except (ValueError, OSError) as error:\n            self.warnings",
     "except OSError as error:\n            self.warnings",
     f"{_STORE}_crafted.py::test_a_crafted_plan_is_passed_over_in_words"),
    ("site/_report.py", "if entry.page or entry.id not in experiment_ids() or entry.folder != results / entry.id:",
     "if entry.page:", "tests/site/test_site_report.py::test_a_record_does_not_choose_which_file_is_run"),
    ("store/_archive.py", " or len(set(names)) != len(names)", "", _CRAFTED),
    ("store/_archive.py", "if not plain or info.compress_size != info.file_size:", "if False:", _CRAFTED),
    ("store/_archive.py", "if sum(info.file_size for info in infos) > self._size:", "if False:",
     "tests/store/test_store_crafted.py -k inside_each_other"),
    ("store/_index.py", "if not self.seen and all(isinstance(e, Foreign", "if 0 and all(isinstance(e, Foreign",
     "tests/store/test_store_crafted.py -k digit"),
    ("store/_store.py", "            theirs.fit(plan)\n", "            pass\n",
     f"{_STORE}_crafted.py::test_a_bad_part_is_not_merged"),
    # Whose numbers they are.
    ("reproduction/_changed_code.py", "if other is not None and other not in kept",
     "if other == 1", f"{_CLI}changed.py::test_changed_code_is_refused_until_it_is_accepted_or_run_afresh"),
    ("store/_part.py", 'return Contents(keys, layout, origin.get("code"), digest)',
     'return Contents(keys, layout, str(origin.get("code")), digest)',
     f"{_CLI}changed.py::test_results_that_do_not_tell_their_code_stay_readable"),
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
     _NO_DATA),
    ("reproduction/_missing.py", "lacking is None or fresh or", "lacking is None or",
     _NO_DATA),
    ("sweep/_generator.py", "with jax.default_prng_impl(_GENERATOR), jax.threefry_partitionable",
     "with jax.threefry_partitionable", "tests/sweep/test_generator.py::test_the_environment_does_not_choose_the_generator"),
    ("store/_variable.py", "np.isfinite(array) & ~np.isfinite(array.astype(target))", "np.isnan(array)",
     "tests/store/test_variable.py::test_a_value_beyond_the_declared_dtype_is_refused"),
    ("store/_results.py", 'and record.get("bytes") == _digest_of_files(target)', "", f"{_IMAGE}::test_harm_to_it_is_noticed_and_mended"),
    ("store/_results.py", "{part: store.digest(part) for", "{part: part for", f"{_IMAGE} -k replaced"),
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
     f"{_FALSE}test_leaving_a_cell_is_a_failed_cell"),
    ("cli/_reproduce.py", "        except (Exception, SystemExit) as error:\n            if isinstance",
     "        except ArithmeticError as error:\n            if isinstance", f"{_FALSE}test_one_that_breaks_does_not_stop_the_others"),
    # Work, locks and numbers.
    ("store/_store.py", "if self._last_plan is not plan:", "if True:",
     "tests/sweep/test_sweep_scale.py -k ten_thousand"),
    ("sweep/_run.py", 'words = f"process {who} has computed it {minutes}"', 'words = f"waited {minutes}"',
     f"{_TEXT}test_what_hangs_is_named_after_a_while_with_what_to_do"),
    ("reproduction/_run.py", "    with store.at_work(), _workers(", "    with _workers(",
     f"{_TEXT}test_fresh_is_refused_until_the_last_file_is_written"),
    ("sweep/_dask.py", 'dashboard_address="127.0.0.1:0",\n                        worker',
     'dashboard_address=":0",\n                        worker', f"{_CLI}text.py -k dashboard"),
    ("experiments/_parameter.py", "_LARGEST = 2**63 - 1", "_LARGEST = 2**64 - 1",
     _TOO_MUCH),
    ("_doors.py", "if not _all_finite(answer) and _all_finite", "if False and _all_finite", _DOORS),
    # Paths and text.
    ("cli/_text.py", "c if c.isprintable() or c in", "c if True or c in", _MARKUP),
    ("cli/_text.py", "return escape(plain(text))", "return plain(text)", _MARKUP),
    ("cli/_text.py", 'reconfigure(errors="replace")', "pass", f"{_CLI}text.py -k unicode"),
    ("store/_store.py", "self.path = Path(os.path.expanduser(path))", "self.path = Path(path)",
     "tests/store/test_store.py -k tilde"),
    ("_files.py", "if not is_temporary(entry.name) or", 'if not entry.name.endswith(".tmp") or',
     f"{_STORE}_together.py::test_stale_temporary_files_go_and_fresh_ones_stay"),
    ("sweep/_dask.py", "except (TypeError, RuntimeError) as error:  # tls", "except ArithmeticError as error:  # tls",
     f"{_CLI}text.py -k certificates"),
    ("cli/_verify.py", "write_atomically(path, page.encode())", "path.write_bytes(page.encode())",
     f"{_CLI}verify.py -k errata"),
    # What is checked and cleaned.
    ("store/_check.py", "        if state is not None:", "        if False:", _MENDED),
    ("store/_check.py", "if not is_held(", "if False and not is_held(", _MENDED),
    ("store/_check.py", "if _OLD.fullmatch(name) and", "if False and", _CHECK),
    ("store/_check.py", "if not Path(place, name).is_symlink()", "if True", _CHECK),
    ("cli/_clean.py", "    if remove:\n", "    if True:\n",
     f"{_CHECK}::test_clean_lists_and_removes_what_is_left_over"),
    ("draw/_save.py", "return with_steady_names(data) if kind", "return data if kind",
     "tests/draw/test_save_steady.py"),
]  # fmt: skip
