#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the program behaves: exit codes, messages, files, streams, signals, progress, help."""
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

from program import CUZK, MODULUS, TOP, ProgramTest, golden, run, split_notice

COMMANDS = ["prove", "verify", "inspect", "export vkey", "witness check", "setup", "bench kernels", "bench h2d",
            "bench prove"]
KEY, WITNESS = golden("two", "circuit_final.zkey"), golden("two", "witness.wtns")
R1CS, VKEY = golden("two", "circuit.r1cs"), golden("two", "verification_key.json")
PUBLIC, PROOF = golden("two", "public.json"), golden("two", "proof.json")


class Usage(ProgramTest):
    def test_no_command(self):
        result = run()
        self.assertEqual(result.code, 2, result)
        self.assertIn("Usage: cuzk", result.err)
        self.assertEqual(result.out, "")

    def test_near_misses_are_named(self):
        for args, meant in [(["prov"], "cuzk prove"), (["vrify"], "cuzk verify"), (["inspcet"], "cuzk inspect"),
                            (["witness"], "cuzk witness check"), (["witness", "chek"], "cuzk witness check"),
                            (["witnes", "check"], "cuzk witness check"), (["exprt", "vkey"], "cuzk export vkey"),
                            (["bench"], "cuzk bench kernels or cuzk bench h2d or cuzk bench prove"), (["prove", "--jsn"], "--json"),
                            (["prove", "--witness", "x"], "unknown option --witness"), (["verify", "--vky=x"], "--vkey"),
                            (["prove", "-z"], "unknown option -z"), (["help", "prvoe"], "cuzk prove")]:
            with self.subTest(args=args):
                self.assert_fails(run(*args), 2, re.escape(meant))

    def test_no_suggestion_when_nothing_is_near(self):
        result = self.assert_fails(run("abracadabra"), 2, "abracadabra: unknown command$")
        self.assertIn("try: cuzk --help", result.err)

    def test_wrong_command_lines(self):
        files = [KEY, WITNESS, *self.outputs()]
        for args, pattern in [
                (["prove"], "--zkey FILE is missing"),
                (["prove", "--zkey", KEY, "--wtns", WITNESS, "--proof", "p"], "--public FILE is missing"),
                (["prove", "--zkey"], "--zkey needs an argument"),
                (["prove", "--json=1", *files], "--json takes no argument"),
                (["prove", "--quiet", "-q", *files], "--quiet is given twice"),
                (["prove", "--p", "x"], "--p could mean more than one option"),
                (["prove", *files[:3]], "give all four"),
                (["prove", *files, "x"], "give all four"),
                (["prove", "--zkey", KEY, *files], "give all four"),
                (["prove", "--threads", "0", *files], "--threads 0: expected a whole number from 1"),
                (["prove", "--threads", "-1", *files], "--threads -1: expected"),
                (["prove", "--threads", "2x", *files], "--threads 2x: expected"),
                (["prove", "--threads", "99999999999999999999", *files], "--threads 9+: expected"),
                (["prove", "--cpu", "abacus", *files], "abacus"),
                (["prove", "--no-check", *files], "--insecure"),
                (["verify", VKEY, PUBLIC], "give all three"),
                (["verify", "--vkey", VKEY], "--public FILE is missing"),
                (["inspect"], "FILE is missing"),
                (["inspect", "--r1cs", R1CS, KEY], "--r1cs needs --check"),
                (["export", "vkey"], "--zkey FILE is missing"),
                (["export", "vkey", KEY], "unexpected argument"),
                (["witness", "check", "--r1cs", R1CS], "--wtns FILE is missing"),
                (["setup", "--r1cs", R1CS, "--zkey", "x"], "say --insecure"),
                (["setup", "--insecure", "--r1cs", "some/circuit.r1cs"], r"--zkey some/circuit\.insecure\.zkey"),
                (["setup", "--insecure", "--r1cs", R1CS, "--zkey", "-"], "can't go to standard output"),
                (["prove", "--backend", "abacus", *files], "--backend abacus: expected cpu or cuda"),
                (["prove", "--backend", "cpu", "--vram-budget", "8GiB", *files], "--vram-budget needs --backend cuda"),
                (["prove", "--backend", "cpu", "--device", "1", *files], "--device needs --backend cuda"),
                (["prove", "--device", "x", *files], "--device x: expected a whole number from 0"),
                (["prove", "--trace", "-", "--json", *files], "both need standard output"),
                (["bench", "prove"], "cuzk setup --insecure"),
                (["bench", "prove", "--synthetic", "--zkey", KEY], "--synthetic makes its own"),
                (["bench", "prove", "--curve", "bn254", "--zkey", KEY, "--wtns", WITNESS], "--curve needs --synthetic"),
                (["bench", "prove", "--synthetic", "--curve", "bn128"], "--curve bn128: expected bn254 or bls12_381"),
                (["bench", "prove", "--synthetic", "--profile", "x"], "--profile x: expected dense, sha or porep"),
                (["bench", "prove", "--synthetic", "--quotient", "x"], "--quotient x: expected circom or filecoin"),
                (["bench", "prove", "--synthetic", "--log-constraints", "2"], "--log-constraints 2: expected"),
                (["bench", "prove", "--synthetic", "--trace", "-"], "trace can't go to standard output"),
                (["bench", "h2d", "--size", "1GB"], "--size 1GB: expected a size such as 8GiB, 512MiB or"),
                (["bench", "prove", "--zkey", KEY, "--wtns", WITNESS, "--runs", "0"], "--runs 0: expected"),
                (["bench", "kernels", "--min-log-n", "9", "--max-log-n", "8"], "above --max-log-n")]:
            with self.subTest(args=args):
                self.assert_fails(run(*args), 2, pattern)
        self.assertEqual(self.listing(), [])

    def test_control_characters_of_an_argument_do_not_reach_the_terminal(self):
        result = self.assert_fails(run("verify", "no\nsuch\x1b[31mfile", PUBLIC, PROOF), 3, "no.such")
        self.assertNotIn("\x1b", result.err)

    def test_options_may_follow_operands_and_be_shortened(self):
        self.assert_ok(run("prove", KEY, WITNESS, *self.outputs(), "--thr", "1", "-q"))
        self.assert_valid()

    def test_double_dash_ends_the_options(self):
        self.assert_ok(run("prove", "-q", "--", KEY, WITNESS, "--proof", "--public", cwd=self.folder))
        self.assertEqual(self.listing(), ["--proof", "--public"])


class Prove(ProgramTest):
    def test_named_and_positional_files(self):
        proof, public = self.outputs()
        self.assert_ok(run("prove", "--zkey", KEY, "--wtns", WITNESS, "--proof", proof, "--public", public,
                           "--r1cs", R1CS))
        self.assert_valid()
        self.assert_ok(self.prove())
        self.assert_valid()
        self.assertEqual(self.listing(), ["proof.json", "public.json"])

    def test_report_for_people(self):
        result = self.assert_ok(self.prove("poseidon_4"))
        for part in ["bn254", "public", "domain 2^10", "total", "peak memory", "proof.json", "public.json", "checked"]:
            self.assertIn(part, result.out)
        self.assertEqual(result.err, "")

    def test_report_as_json(self):
        result = self.assert_ok(self.prove("poseidon_4", "--json", "--threads", "2"))
        report = json.loads(result.out)
        self.assertEqual(result.out.count("\n"), 1)
        self.assertEqual(report["curve"], "bn254")
        self.assertEqual((report["n_public"], report["domain_size"], report["threads"]), (2, 1024, 2))
        self.assertIs(report["checked"], True)
        self.assertEqual(report["proof"], str(self.outputs()[0]))
        self.assertGreater(report["peak_bytes"], 1 << 20)
        self.assertGreater(report["wall_s"], sum(s["wall_s"] for s in report["stages"]) * 0.99)
        self.assertTrue(all(s["name"] for s in report["stages"]))

    def test_json_names_files_whose_names_are_not_utf8(self):
        proof = os.fsencode(self.folder) + b"/\xff\"\\\n.json"
        result = subprocess.run([CUZK, "prove", "--json", KEY, WITNESS, proof, self.outputs()[1]],
                                stdout=subprocess.PIPE, check=True)
        self.assertTrue(json.loads(result.stdout.decode())["proof"].endswith('/\ufffd"\\\n.json'))

    def test_quiet(self):
        result = self.assert_ok(self.prove("two", "--quiet"))
        self.assertEqual((result.out, result.err), ("", ""))

    def test_each_arithmetic_and_number_of_threads(self):
        for options in (["--cpu", "portable"], ["--threads", "1"], ["--threads", "5"]):
            for curve in ("bn128", "bls12381"):
                self.assert_ok(self.prove("two", *options, curve=curve))
                self.assert_valid(curve=curve)

    def test_arithmetic_from_the_environment(self):
        result = self.assert_ok(self.prove("two", "--json", env={"CUZK_CPU": "portable"}))
        self.assertEqual(json.loads(result.out)["cpu"], "portable")
        self.assert_fails(self.prove("two", env={"CUZK_CPU": "abacus"}), 2, "abacus")
        default = json.loads(self.assert_ok(self.prove("two", "--json", env={"CUZK_CPU": None})).out)
        result = self.assert_ok(self.prove("two", "--json", env={"CUZK_CPU": ""}))
        self.assertEqual(json.loads(result.out)["cpu"], default["cpu"])

    def test_inputs_from_standard_input(self):
        for dash, path in ((1, WITNESS), (0, KEY)):
            args = [KEY, WITNESS, *self.outputs()]
            args[dash] = "-"
            with open(path, "rb") as file: # a file
                self.assert_ok(run("prove", *args, stdin=file))
            self.assert_valid()
            self.assert_ok(run("prove", *args, input=path.read_bytes())) # a pipe
            self.assert_valid()

    def test_damaged_witness_from_standard_input(self):
        result = run("prove", KEY, "-", *self.outputs(), input=WITNESS.read_bytes()[:-1])
        self.assert_fails(result, 3, "standard input")

    def test_outputs_to_standard_output(self):
        proof, public = self.outputs()
        result = self.assert_ok(run("prove", KEY, WITNESS, "-", public))
        proof.write_text(result.out)
        self.assertIn("total", result.err)
        self.assert_valid()
        result = self.assert_ok(run("prove", "-q", KEY, WITNESS, proof, "-"))
        self.assertEqual(json.loads(result.out), json.loads(PUBLIC.read_text()))
        self.assertEqual(result.err, "")

    def test_one_dash_each_way(self):
        proof, public = self.outputs()
        for args in (["-", "-", proof, public], [KEY, WITNESS, "-", "-"], ["--r1cs", "-", KEY, "-", proof, public],
                     ["--json", KEY, WITNESS, "-", public], ["--json", KEY, WITNESS, proof, "-"]):
            self.assert_fails(run("prove", *args), 2, "standard (in|out)put")

    def test_missing_and_wrong_inputs(self):
        nowhere, outputs = self.folder / "nowhere", self.outputs()
        self.assert_fails(run("prove", nowhere, WITNESS, *outputs), 3, f"^cuzk: {nowhere}: .*No such file")
        self.assert_fails(run("prove", KEY, nowhere, *outputs), 3, f"^cuzk: {nowhere}: .*No such file")
        self.assert_fails(run("prove", self.folder, WITNESS, *outputs), 3, f"^cuzk: {self.folder}: ")
        for args in (["", WITNESS, *outputs], [KEY, "", *outputs], [KEY, WITNESS, "", outputs[1]],
                     [KEY, WITNESS, outputs[0], ""], ["--r1cs", "", KEY, WITNESS, *outputs]):
            self.assert_fails(run("prove", *args), 2, "empty")
        long = "/".join([str(self.folder)] + ["d" * 200] * 3 + ["k.zkey"])
        self.assert_fails(run("prove", long, WITNESS, *outputs), 3, r"^cuzk: \.\.\.d+/k.zkey: .*No such file")
        result = self.assert_fails(run("prove", WITNESS, KEY, *outputs), 3, f"^cuzk: {WITNESS}: ")
        self.assertIn(f"try: cuzk inspect {WITNESS} {KEY}", result.err)
        self.assertEqual(self.listing(), [])

    def test_witness_that_does_not_fit(self):
        longer = golden("poseidon_4", "witness.wtns")
        result = self.assert_fails(run("prove", KEY, longer, *self.outputs()), 4, str(longer))
        self.assertIn(f"try: cuzk inspect {KEY} {longer}", result.err)
        other = golden("two", "witness.wtns", "bls12381")
        self.assert_fails(run("prove", KEY, other, *self.outputs()), 4, "bls12_381.*bn254|bn254.*bls12_381")
        self.assertEqual(self.listing(), [])

    def test_witness_that_does_not_satisfy(self):
        bad = self.bad_witness()
        result = self.assert_fails(run("prove", KEY, bad, *self.outputs()), 4, f"^cuzk: {bad}: .*does not satisfy")
        self.assertIn("try: --r1cs FILE", result.err)
        result = self.assert_fails(run("prove", "--r1cs", R1CS, KEY, bad, *self.outputs()), 4, r"constraint \d")
        self.assertNotIn("try:", result.err)
        self.assertEqual(self.listing(), ["bad.wtns"])

    def test_circuit_is_read_before_the_proof_is_made(self):
        """A wrong one is noticed whatever the witness; a damaged one never hides a bad witness."""
        nowhere, cut, damaged = (self.folder / name for name in ("nowhere", "cut.r1cs", "damaged.r1cs"))
        cut.write_bytes(R1CS.read_bytes()[:-1])
        other = golden("poseidon_4", "circuit.r1cs")
        for witness in (WITNESS, self.bad_witness()):
            for r1cs, pattern in ((nowhere, "No such file"), (cut, "section|offset"), (other, "another circuit")):
                result = run("prove", "--r1cs", r1cs, KEY, witness, *self.outputs())
                self.assert_fails(result, 3, f"^cuzk: {r1cs}: .*({pattern})")
        data = bytearray(R1CS.read_bytes())
        at = data.index(b"\x02\0\0\0", 12) # the head of the constraints, then terms of A, then a wire
        data[at + 12 + 4:at + 12 + 8] = b"\xff" * 4
        damaged.write_bytes(data)
        result = run("prove", "--r1cs", damaged, KEY, self.bad_witness(), *self.outputs())
        self.assert_fails(result, 4, "does not satisfy.*wire")

    def test_unchecked_proof_of_a_bad_witness(self):
        result = self.assert_ok(run("prove", "--no-check", "--insecure", KEY, self.bad_witness(), *self.outputs()))
        self.assertIn("NOT checked", result.out)
        proof, public = self.outputs()
        self.assertEqual(run("verify", VKEY, public, proof).code, 1)
        result = self.assert_ok(self.prove("two", "--no-check", "--insecure", "--json"))
        self.assertIs(json.loads(result.out)["checked"], False)


class Devices(ProgramTest):
    """Where it is computed, and what there is to tell about it."""

    def gpu(self):
        """"usable", "missing" (the build could use one), or "unknown" to this build."""
        result = self.prove("two", "--backend", "cuda")
        if result.code == 0:
            return "usable"
        self.assertEqual(result.code, 5, result)
        return "unknown" if "this build has no backend" in result.err else "missing"

    def test_the_cpu_is_always_there(self):
        result = self.assert_ok(self.prove("two", "--backend", "cpu", "--json"))
        report = json.loads(result.out)
        self.assertEqual((report["backend"], report["peak_device_bytes"], result.notice), ("cpu", 0, ""))
        self.assertTrue(report["plan"] and report["device"])
        self.assert_valid()

    def test_sizes(self):
        for size in ("8GB", "8 GiB", "GiB", "0", "0GiB", "-1", "1.5GiB", "8gib", "8GiBs", "0x10", "", "17179869184GiB",
                     "99999999999999999999"):
            result = self.prove("two", "--backend", "cuda", "--vram-budget", size)
            self.assert_fails(result, 2, f"--vram-budget {size}: expected a size such as 8GiB, 512MiB or 1073741824$")
        self.assertEqual(self.listing(), [])

    def test_without_a_gpu_the_cpu_is_used_and_one_line_says_why(self):
        gpu = self.gpu()
        if gpu == "usable":
            self.skipTest("there is a GPU")
        result = self.assert_ok(self.prove("two", "--json"))
        self.assertEqual((json.loads(result.out)["backend"], result.err), ("cpu", ""))
        self.assert_valid()
        notice = r"cuzk: no usable GPU \(.+\), using the CPU\n" if gpu == "missing" else ""
        self.assertRegex(result.notice, f"^{notice}$")
        self.assertEqual(self.assert_ok(self.prove("two", "--quiet")).notice, "")
        proof, public = self.outputs()
        self.assertEqual(self.assert_ok(run("verify", VKEY, public, proof)).notice, "") # needs none

    def test_a_gpu_that_is_asked_for_must_be_there(self):
        gpu = self.gpu()
        if gpu == "usable":
            self.skipTest("there is a GPU")
        for args in (["prove", "--backend", "cuda", KEY, WITNESS, *self.outputs()],
                     ["setup", "--backend", "cuda", "--insecure", "--r1cs", R1CS, "--zkey", self.folder / "k"],
                     ["bench", "kernels", "--backend", "cuda"], ["bench", "h2d"]):
            result = self.assert_fails(run(*args), 5, '"cuda"')
            self.assertIn("-DCUZK_CUDA=ON" if gpu == "unknown" else "nvidia-smi", result.err)
        result = self.prove("two", "--vram-budget", "1GiB")
        self.assert_fails(result, 2, 'budget of GPU memory needs the backend "cuda"')
        self.assert_fails(self.prove("two", "--device", "1"), 2, 'device other than 0 needs the backend "cuda"')
        self.assertEqual(self.listing(), [])

    def test_trace(self):
        trace = self.folder / "trace.json"
        result = self.assert_ok(self.prove("poseidon_4", "--trace", trace))
        self.assertIn(f"trace   {trace}", result.out)
        events = json.loads(trace.read_text())["traceEvents"]
        lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        spans = [e for e in events if e["ph"] == "X"]
        self.assertIn("host", lanes.values())
        self.assertTrue({"ntt", "msm"} <= {e["name"] for e in spans})
        self.assertTrue(all(e["ts"] >= 0 and e["dur"] >= 0 and e["tid"] in lanes for e in spans))
        self.assert_valid("poseidon_4")
        proof, public = self.outputs()
        printed = self.assert_ok(run("prove", "--trace", "-", KEY, WITNESS, proof, public))
        self.assertTrue(json.loads(printed.out)["traceEvents"])
        self.assertIn("total", printed.err)

    def test_trace_is_written_with_the_proof_or_not_at_all(self):
        trace = self.folder / "trace.json"
        result = run("prove", "--trace", trace, KEY, self.bad_witness(), *self.outputs())
        self.assert_fails(result, 4, "does not satisfy")
        self.assert_fails(self.prove("two", "--trace", self.folder / "no" / "trace"), 5, "No such file")
        self.assert_fails(self.prove("two", "--trace", "/dev/full"), 5, "/dev/full: .*No space left")
        for same in (KEY, WITNESS, self.outputs()[0]):
            self.assert_fails(self.prove("two", "--trace", same), 2, "same file as the")
        self.assertEqual(self.listing(), ["bad.wtns"])

    def timings(self, result):
        lines = result.err.splitlines()
        self.assertTrue(lines)
        found = [re.fullmatch(r"CUZK_TIMING: (\w+)=(\d+(?:\.\d+)?)", line) for line in lines]
        self.assertTrue(all(found), lines)
        return [(match.group(1), float(match.group(2))) for match in found]

    def test_timing_lines(self):
        result = self.assert_ok(self.prove("poseidon_4", "--json", env={"CUZK_TIMING": "1"}))
        lines = self.timings(result)
        timing = dict(lines)
        self.assertEqual(len(lines), len(timing))
        self.assertLessEqual({"ntt_kernels_ms", "prep_msm_ms", "msm_ms", "gpu_total_ms", "epilogue_ms", "h2d_bytes"},
                             set(timing))
        self.assertLessEqual(timing["gpu_busy_ms"], timing["gpu_total_ms"] + 0.001)
        reported = json.loads(result.out)["timing"]
        self.assertEqual(set(reported), set(timing))
        self.assertTrue(all(abs(reported[key] - timing[key]) < 0.002 for key in timing))
        for value in ("", "0", None):
            self.assertEqual(self.assert_ok(self.prove("two", "-q", env={"CUZK_TIMING": value})).err, "")
        result = run("bench", "prove", "--zkey", KEY, "--wtns", WITNESS, "--runs", "3", env={"CUZK_TIMING": "1"})
        keys = [key for key, _ in self.timings(self.assert_ok(result))]
        self.assertEqual(keys.count("gpu_total_ms"), 3)

    def test_timing_keys_are_documented(self):
        result = self.assert_ok(self.prove("poseidon_4", env={"CUZK_TIMING": "1"}))
        page = (TOP / "docs/howto/gpu.md").read_text()
        for key, _ in self.timings(result):
            self.assertIn(f"`{key}`", page)


class Files(ProgramTest):
    """Outputs appear complete or not at all, and never in place of an input."""

    def copy(self, path, name):
        copy = self.folder / name
        copy.write_bytes(path.read_bytes())
        return copy

    def test_output_equal_to_an_input(self):
        key, witness, r1cs = self.copy(KEY, "k.zkey"), self.copy(WITNESS, "w.wtns"), self.copy(R1CS, "c.r1cs")
        (self.folder / "symbolic").symlink_to(key)
        (self.folder / "hard").hardlink_to(witness)
        public, before = self.folder / "u", {p: p.read_bytes() for p in (key, witness, r1cs)}
        for output in ("k.zkey", "w.wtns", "c.r1cs", "symbolic", "hard", "./k.zkey", f"../{self.folder.name}/w.wtns"):
            for outputs in ([output, public], [public, output]):
                result = run("prove", "--r1cs", r1cs, key, witness, *outputs, cwd=self.folder)
                self.assert_fails(result, 2, "same file as the input")
        self.assert_fails(run("export", "vkey", "--zkey", key, "--out", key), 2, "same file as the input")
        self.assert_fails(run("setup", "--insecure", "--r1cs", r1cs, "--zkey", r1cs), 2, "same file as the input")
        with open(witness, "rb") as file:
            self.assert_fails(run("prove", key, "-", witness, public, stdin=file), 2, "same file as the input")
        self.assertEqual(before, {p: p.read_bytes() for p in before})
        self.assertFalse(public.exists())

    def test_outputs_equal_to_each_other(self):
        for first, second in (("x", "x"), ("x", "./x"), ("x", f"../{self.folder.name}/x")):
            result = run("prove", KEY, WITNESS, first, second, cwd=self.folder)
            self.assert_fails(result, 2, "same file as the output")
        self.assertEqual(self.listing(), [])
        (self.folder / "x").write_text("old")
        (self.folder / "y").hardlink_to(self.folder / "x")
        self.assert_fails(run("prove", KEY, WITNESS, "x", "y", cwd=self.folder), 2, "same file as the output")
        self.assertEqual((self.folder / "x").read_text(), "old")

    def test_devices_may_be_named_twice(self):
        self.assert_ok(run("prove", KEY, WITNESS, "/dev/null", "/dev/null"))
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))

    def test_old_outputs_are_replaced_as_a_whole(self):
        proof, public = self.outputs()
        proof.write_text("x" * 100000)
        public.write_text("old")
        self.assert_ok(self.prove())
        self.assert_valid()
        self.assertEqual(self.listing(), ["proof.json", "public.json"])

    def test_old_outputs_stay_when_proving_fails(self):
        for path in self.outputs():
            path.write_text("old")
        self.assertEqual(run("prove", KEY, self.bad_witness(), *self.outputs()).code, 4)
        self.assertEqual([p.read_text() for p in self.outputs()], ["old", "old"])

    def test_a_link_stays_a_link(self):
        proof, public = self.outputs()
        (self.folder / "real").write_text("old")
        proof.symlink_to("real")
        self.assert_ok(self.prove())
        self.assertTrue(proof.is_symlink())
        self.assert_valid(proof=self.folder / "real")

    def test_permissions_follow_the_umask(self):
        for umask in (0o022, 0o077):
            self.assert_ok(self.prove(preexec_fn=lambda m=umask: os.umask(m)))
            self.assertEqual([p.stat().st_mode & 0o777 for p in self.outputs()], [0o666 & ~umask] * 2)
            for path in self.outputs():
                path.unlink()

    def test_longest_file_name(self):
        name = "n" * 255
        self.assert_ok(run("prove", KEY, WITNESS, name, "public.json", cwd=self.folder))
        self.assertEqual(self.listing(), [name, "public.json"])
        self.assert_fails(run("prove", KEY, WITNESS, "n" * 256, "public.json", cwd=self.folder), 5, "File name too long")

    def test_outputs_that_can_not_be_created(self):
        public = self.outputs()[1]
        for output, pattern in (("no/folder/proof", "No such file"), (".", "Is a directory"), ("new/", "No such file"),
                                (f"{KEY}/proof", "Not a directory")):
            for outputs in ([output, public], [public, output]):
                result = run("prove", KEY, WITNESS, *outputs, cwd=self.folder)
                self.assert_fails(result, 5, pattern)
        self.assertEqual(self.listing(), [])

    def test_full_disk(self):
        for outputs in (["/dev/full", "public.json"], ["proof.json", "/dev/full"]):
            self.assert_fails(run("prove", KEY, WITNESS, *outputs, cwd=self.folder), 5, "/dev/full: .*No space left")
            self.assertEqual(self.listing(), [])

    def test_file_size_limit(self):
        command = f"trap '' XFSZ; ulimit -f 0; exec '{CUZK}' prove '{KEY}' '{WITNESS}' proof.json public.json"
        result = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 5, result)
        self.assertIn("cuzk: proof.json: ", result.stderr)
        self.assertEqual(self.listing(), [])

    def refusing_to_rename(self, name):
        """An environment in which no file can be given this name."""
        source, library = self.folder / ".refuse.c", self.folder / ".refuse.so"
        source.write_text(f'''#define _GNU_SOURCE
            #include <errno.h>
            #include <fcntl.h>
            #include <stdio.h>
            #include <string.h>
            int rename(const char *from, const char *to) {{
                const char *slash = strrchr(to, '/');
                if (!strcmp(slash ? slash + 1 : to, "{name}")) return errno = EIO, -1;
                return renameat(AT_FDCWD, from, AT_FDCWD, to);
            }}''')
        made = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=False)
        if made.returncode != 0:
            self.skipTest("no compiler for a shared library")
        env = {"LD_PRELOAD": str(library)}
        if run("--version", env=env).code != 0:
            self.skipTest("the program does not run with a library put before its own")
        return env

    def test_one_of_a_pair_is_no_result(self):
        outputs = self.outputs()
        for name in ("proof.json", "public.json"):
            env = self.refusing_to_rename(name)
            before = self.listing()
            self.assert_fails(self.prove(env=env), 5, f"{name}: can't be put in place: ")
            self.assertEqual(self.listing(), before)
            for path in outputs:
                path.write_text(f"old {path.name}")
            self.assert_fails(self.prove(env=env), 5, f"{name}: can't be put in place: ")
            self.assertEqual([path.read_text() for path in outputs], [f"old {path.name}" for path in outputs])
            self.assertEqual(self.listing(), sorted([*before, *(path.name for path in outputs)]))
            for path in outputs:
                path.unlink()

    def test_temporary_files_left_by_a_crash_are_in_nobody_s_way(self):
        command = ('for i in $(seq 0 120); do : > .cuzk-$$-$i.tmp; done; exec "$@"')
        args = [CUZK, "prove", "-q", KEY, WITNESS, "proof.json", "public.json"]
        result = subprocess.run(["bash", "-c", command, "bash", *args], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result)
        self.assert_valid()

    def test_setup_outputs_that_can_not_be_created(self):
        for output, code, pattern in (("", 2, "empty"), ("no/folder/key", 5, "No such file"), (".", 5, "Is a directory"),
                                      (f"{KEY}/key", 5, "Not a directory"), ("n" * 256, 5, "File name too long")):
            result = run("setup", "--insecure", "--r1cs", R1CS, "--zkey", output, cwd=self.folder)
            self.assert_fails(result, code, pattern)
        result = run("setup", "-q", "--insecure", "--r1cs", R1CS, "--zkey", "/dev/full")
        self.assertEqual(result.code, 5, result)
        self.assertIn("No space left", result.err)
        name = "n" * 255
        self.assert_ok(run("setup", "--insecure", "--r1cs", R1CS, "--zkey", name, cwd=self.folder))
        self.assertEqual(self.listing(), [name])

    def test_setup_of_a_small_file_that_claims_many_wires(self):
        r1cs, key = self.folder / "c.r1cs", self.folder / "x.insecure.zkey"
        def write(n_wires, n_public, constraints, n_constraints):
            header = struct.pack("<I", 32) + MODULUS["bn128"].to_bytes(32, "little")
            header += struct.pack("<IIIIQI", n_wires, n_public, 0, 0, n_wires, n_constraints)
            sections = [(1, header), (2, constraints)]
            r1cs.write_bytes(b"r1cs" + struct.pack("<II", 1, 2) +
                             b"".join(struct.pack("<IQ", i, len(s)) + s for i, s in sections))
        for n_wires, n_public in ((0xffffffff, 0), (1 << 27, (1 << 27) - 1), (3, 1)):
            write(n_wires, n_public, bytes(12), 1)
            result = run("setup", "--insecure", "--r1cs", r1cs, "--zkey", key)
            self.assertEqual(result.code, 3, result)
            self.assertRegex(result.err, f"{r1cs}: {n_wires} wires, .* 12 bytes .*at most 2")
        write(2, 1, bytes(12), 1)
        self.assert_ok(run("setup", "--insecure", "--r1cs", r1cs, "--zkey", key))

    def test_setup_leaves_nothing_behind_when_it_fails(self):
        damaged = self.folder / "c.r1cs"
        damaged.write_bytes(R1CS.read_bytes()[:-1])
        result = run("setup", "--insecure", "--r1cs", damaged, "--zkey", self.folder / "x.insecure.zkey")
        self.assertEqual(result.code, 3, result)
        self.assertEqual(self.listing(), ["c.r1cs"])


class Streams(ProgramTest):
    def shell(self, redirections, *args):
        command = " ".join([f"'{a}'" for a in (CUZK, *args)])
        result = subprocess.run(["bash", "-c", f"exec {command} {redirections}"], capture_output=True, text=True)
        result.stderr = split_notice(result.stderr)[1]
        return result

    def test_full_standard_output(self):
        for args in (["--version"], ["--help"], ["help", "prove"], ["prove", "--help"], ["inspect", KEY],
                     ["verify", VKEY, PUBLIC, PROOF], ["export", "vkey", "--zkey", KEY],
                     ["prove", KEY, WITNESS, "-", self.outputs()[1]]):
            with self.subTest(args=args):
                result = self.shell(">/dev/full", *args)
                self.assertEqual(result.returncode, 5, result)
                self.assertRegex(result.stderr, "^cuzk: standard output: .*No space left")
        self.assertEqual(self.listing(), [])

    def test_closed_standard_output(self):
        result = self.shell(">&-", "prove", KEY, WITNESS, *self.outputs())
        self.assertEqual(result.returncode, 5, result)
        self.assertRegex(result.stderr, "^cuzk: standard output: ")
        self.assert_valid() # and the report is not inside one of the files
        result = self.shell(">&-", "export", "vkey", "--zkey", KEY)
        self.assertEqual(result.returncode, 5, result)

    def test_closed_streams_that_are_not_needed(self):
        result = self.shell("<&- >&- 2>&-", "prove", "-q", KEY, WITNESS, *self.outputs())
        self.assertEqual(result.returncode, 0, result)
        self.assert_valid()

    def test_reader_that_went_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = run("export", "vkey", "--zkey", golden("pub512", "circuit_final.zkey"), stdout=writer)
        os.close(writer)
        self.assert_fails(result, 5, "standard output: .*Broken pipe")


class Verify(ProgramTest):
    def test_valid(self):
        for args in ([VKEY, PUBLIC, PROOF], ["--vkey", VKEY, "--public", PUBLIC, "--proof", PROOF]):
            result = self.assert_ok(run("verify", *args))
            self.assertEqual((result.out, result.err), ("OK: the proof is valid\n", ""))

    def test_not_valid(self):
        other = self.folder / "public.json"
        other.write_text(json.dumps(["1"] * len(json.loads(PUBLIC.read_text()))))
        result = run("verify", VKEY, other, PROOF)
        self.assertEqual((result.code, result.err), (1, ""), result)
        self.assertRegex(result.out, "^not valid: .+\n$")
        result = run("verify", "--json", VKEY, other, PROOF)
        self.assertEqual(result.code, 1)
        answer = json.loads(result.out)
        self.assertIs(answer["valid"], False)
        self.assertTrue(answer["reason"])
        result = run("verify", "-q", VKEY, other, PROOF)
        self.assertEqual((result.code, result.out, result.err), (1, "", ""))

    def test_value_not_below_the_group_order(self):
        publics = json.loads(PUBLIC.read_text())
        publics[0] = str(int(publics[0]) + 21888242871839275222246405745257275088548364400416034343698204186575808495617)
        other = self.folder / "public.json"
        other.write_text(json.dumps(publics))
        self.assertEqual(run("verify", VKEY, other, PROOF).code, 1)

    def test_json(self):
        self.assertEqual(json.loads(self.assert_ok(run("verify", "--json", VKEY, PUBLIC, PROOF)).out), {"valid": True})

    def test_standard_input(self):
        for dash, path in enumerate((VKEY, PUBLIC, PROOF)):
            args = [VKEY, PUBLIC, PROOF]
            args[dash] = "-"
            self.assert_ok(run("verify", *args, input=path.read_text()))
        self.assert_fails(run("verify", "-", PUBLIC, "-"), 2, "only one file")

    def test_missing_and_wrong_files(self):
        self.assert_fails(run("verify", self.folder / "no", PUBLIC, PROOF), 3, "no: .*No such file")
        self.assert_fails(run("verify", VKEY, PROOF, PUBLIC), 3, str(PROOF))
        self.assert_fails(run("verify", KEY, PUBLIC, PROOF), 3, str(KEY))


class Inspect(ProgramTest):
    FORMATS = {"circuit_final.zkey": "zkey", "witness.wtns": "wtns", "circuit.r1cs": "r1cs"}

    def test_every_format_as_text_and_json(self):
        for curve, name in (("bn128", "bn254"), ("bls12381", "bls12_381")):
            paths = sorted(golden("two", "proof.json", curve).parent.iterdir())
            result = self.assert_ok(run("inspect", *paths))
            self.assertEqual(result.out.count("good for"), len(paths), result)
            self.assertIn(name, result.out)
            result = self.assert_ok(run("inspect", "--json", *paths))
            for path, line in zip(paths, result.out.splitlines(), strict=True):
                described = json.loads(line)
                self.assertEqual(described["file"], str(path))
                if path.name in self.FORMATS:
                    self.assertEqual(described["format"], self.FORMATS[path.name])
                    self.assertEqual(described["curve"], name)
                    self.assertTrue(described["sections"])
                self.assertTrue(described["good_for"])

    def test_check(self):
        self.assert_ok(run("inspect", "--check", KEY, WITNESS, R1CS, VKEY, PUBLIC, PROOF))
        result = self.assert_ok(run("inspect", "--check", "--json", VKEY, PUBLIC, PROOF))
        vkey, public, proof = (json.loads(line) for line in result.out.splitlines())
        self.assertEqual(vkey["checked"], {"points": 4 + vkey["public_signals"] + 1})
        self.assertEqual(public["checked"], {"values": public["public_signals"]})
        self.assertEqual(proof["checked"], {"points": 3})
        result = self.assert_ok(run("inspect", "--check", "--r1cs", R1CS, "--json", KEY))
        self.assertTrue(json.loads(result.out)["checked"])
        self.assert_fails(run("inspect", "--check", "--r1cs", golden("nopub", "circuit.r1cs"), KEY), 3, str(KEY))

    def test_other_files_are_described_when_one_is_unknown(self):
        result = self.assert_fails(run("inspect", __file__, WITNESS), 3, __file__)
        self.assertIn("wtns", result.out)

    def test_standard_input(self):
        self.assertIn("wtns", self.assert_ok(run("inspect", "-", input=WITNESS.read_bytes())).out.decode())


class OtherCommands(ProgramTest):
    def test_export_vkey(self):
        vkey = self.folder / "vkey.json"
        result = self.assert_ok(run("export", "vkey", "--zkey", KEY))
        self.assertEqual(json.loads(result.out), json.loads(VKEY.read_text()))
        self.assert_ok(run("export", "vkey", "--zkey", KEY, "-o", vkey))
        self.assertEqual(vkey.read_text(), result.out)

    def test_witness_check(self):
        result = self.assert_ok(run("witness", "check", "--r1cs", R1CS, "--wtns", WITNESS))
        self.assertEqual(result.out, "OK: the witness satisfies the circuit\n")
        result = run("witness", "check", "--r1cs", R1CS, "--wtns", self.bad_witness())
        self.assertEqual((result.code, result.err), (1, ""), result)
        self.assertRegex(result.out, r"^not valid: .*constraint \d")
        result = run("witness", "check", "--json", "--r1cs", R1CS, "--wtns", golden("nopub", "witness.wtns"))
        self.assertEqual(result.code, 1, result)
        self.assertIs(json.loads(result.out)["valid"], False)
        self.assert_fails(run("witness", "check", "--r1cs", R1CS, "--wtns", R1CS), 3, str(R1CS))
        self.assert_ok(run("witness", "check", "--r1cs", R1CS, "--wtns", "-", input=WITNESS.read_bytes()))

    def test_setup(self):
        keys = [self.folder / f"{i}.insecure.zkey" for i in range(4)]
        for key, seed in zip(keys, (["--seed", "a"], ["--seed", "a"], ["--seed", "b"], [])):
            result = self.assert_ok(run("setup", "--insecure", "--r1cs", R1CS, "--zkey", key, *seed))
            self.assertIn("INSECURE", result.err)
        contents = [key.read_bytes() for key in keys]
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(set(contents)), 3)
        vkey = self.folder / "vkey.json"
        self.assert_ok(run("export", "vkey", "--zkey", keys[3], "--out", vkey))
        self.assert_ok(run("prove", keys[3], WITNESS, *self.outputs()))
        proof, public = self.outputs()
        self.assert_ok(run("verify", vkey, public, proof))
        self.assertEqual(run("verify", VKEY, public, proof).code, 1) # of the other key
        self.assert_ok(run("inspect", "--check", "--r1cs", R1CS, keys[3]))
        result = self.assert_ok(run("setup", "--insecure", "-q", "--json", "--r1cs", R1CS, "--zkey", keys[0]))
        self.assertIs(json.loads(result.out)["secure"], False)

    def test_bench_prove(self):
        result = self.assert_ok(run("bench", "prove", "--zkey", KEY, "--wtns", WITNESS, "--runs", "4", "--json"))
        report = json.loads(result.out)
        self.assertEqual((report["runs"], report["stages"][-1]["name"]), (4, "total"))
        self.assertTrue(all(0 <= s["min_s"] <= s["median_s"] for s in report["stages"]))
        self.assertIn("median", self.assert_ok(run("bench", "prove", "--zkey", KEY, "--wtns", WITNESS)).out)

    def test_bench_prove_of_a_made_up_circuit(self):
        trace = self.folder / "trace.json"
        small = ["bench", "prove", "--synthetic", "--log-constraints", "6", "--runs", "2"]
        for options in ([], ["--curve", "bn254", "--profile", "sha"], ["--profile", "porep", "--quotient", "filecoin"]):
            lines = self.assert_ok(run(*small, "--json", *options)).out.splitlines()
            self.assertTrue(lines and all(json.loads(line)["id"] for line in lines), lines)
        result = self.assert_ok(run(*small, "--trace", trace))
        ids = [json.loads(line)["id"] for line in self.assert_ok(run(*small, "--json")).out.splitlines()]
        self.assertEqual(re.findall(r"^id +(\S+)$", result.out, re.M), ids)
        self.assertTrue(json.loads(trace.read_text())["traceEvents"])

    def test_bench_kernels(self):
        small = ["--filter", "ntt", "--min-log-n", "4", "--max-log-n", "4", "--runs", "1"]
        lines = self.assert_ok(run("bench", "kernels", "--json", *small)).out.splitlines()
        ids = [json.loads(line)["id"] for line in lines]
        self.assertTrue(ids and all("ntt" in i for i in ids), ids)
        text = self.assert_ok(run("bench", "kernels", *small)).out.splitlines()
        self.assertEqual([line.split()[0] for line in text], ids)

    def test_version(self):
        header = (TOP / "include/cuzk/cuzk.h").read_text()
        version = re.search(r'#define CUZK_VERSION "(.*)"', header).group(1)
        for option in ("--version", "-V"):
            self.assertEqual(self.assert_ok(run(option)).out, f"cuzk {version}\n")


class Example(ProgramTest):
    """The files in examples/circuit belong together."""

    HERE = TOP / "examples" / "circuit"

    def test_proves(self):
        proof, public = self.outputs()
        self.assert_ok(run("prove", self.HERE / "circuit.zkey", self.HERE / "witness.wtns", proof, public))
        self.assert_ok(run("verify", self.HERE / "verification_key.json", public, proof))
        statement = json.loads((self.HERE / "input.json").read_text())
        self.assertEqual(json.loads(public.read_text()), [statement["root"], statement["message"]])

    def test_files_agree(self):
        self.assert_ok(run("witness", "check", "--r1cs", self.HERE / "circuit.r1cs", "--wtns", self.HERE / "witness.wtns"))
        self.assert_ok(run("inspect", "--check", "--r1cs", self.HERE / "circuit.r1cs", self.HERE / "circuit.zkey"))
        vkey = self.assert_ok(run("export", "vkey", "--zkey", self.HERE / "circuit.zkey")).out
        self.assertEqual(json.loads(vkey), json.loads((self.HERE / "verification_key.json").read_text()))
        made = subprocess.run([sys.executable, self.HERE / "make_input.py"], capture_output=True, text=True, check=True)
        self.assertEqual(made.stdout, (self.HERE / "input.json").read_text())


class Signals(ProgramTest):
    """An interrupt at any moment leaves complete files or none, and no temporary one."""

    def interrupt(self, delay_s, which, *args):
        process = subprocess.Popen([CUZK, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay_s)
        process.send_signal(which)
        code = process.wait(timeout=60)
        self.assertIn(code, (0, -which), f"after {delay_s} s")
        return code

    def test_prove(self):
        key, witness = golden("poseidon_4", "circuit_final.zkey"), golden("poseidon_4", "witness.wtns")
        start = time.monotonic()
        self.assert_ok(self.prove("poseidon_4"))
        whole_s = time.monotonic() - start
        n_ended = 0
        for i in range(24):
            for path in self.outputs():
                path.unlink(missing_ok=True)
            which = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
            code = self.interrupt(whole_s * i / 20, which, "prove", key, witness, *self.outputs())
            n_ended += code != 0
            self.assertIn(self.listing(), ([], ["proof.json", "public.json"]))
            if self.listing():
                self.assert_valid("poseidon_4")
        self.assertGreater(n_ended, 0)

    def test_setup(self):
        r1cs, key = golden("pub512", "circuit.r1cs"), self.folder / "x.insecure.zkey"
        args = ("setup", "--insecure", "--r1cs", r1cs, "--zkey", key)
        start = time.monotonic()
        self.assert_ok(run(*args, "--seed", "1"))
        whole_s, whole = time.monotonic() - start, key.read_bytes()
        for i in range(12):
            key.unlink(missing_ok=True)
            self.interrupt(whole_s * i / 10, signal.SIGINT, *args, "--seed", "1")
            self.assertIn(self.listing(), ([], ["x.insecure.zkey"]))
            if key.exists():
                self.assertEqual(key.read_bytes(), whole)


class Progress(ProgramTest):
    """A bar on a terminal only."""

    def on_terminal(self, *options, **env):
        try:
            ours, theirs = pty.openpty()
        except OSError as why:  # a chroot without devpts
            self.skipTest(f"no pseudo terminal here: {why}")
        result = self.prove("poseidon_4", *options, env={"NO_COLOR": None, "TERM": "xterm", **env}, stderr=theirs)
        os.close(theirs)
        self.assert_ok(result)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError: # how a pseudo-terminal says that its other end is closed
            pass
        os.close(ours)
        return split_notice(shown.decode())[1]

    def test_shown_on_a_terminal(self):
        shown = self.on_terminal()
        self.assertIn("\r", shown)
        self.assertIn("multiexp", shown)
        self.assertRegex(shown, r"\[#*\.*\] \d+/\d+ ")
        self.assertIn("\x1b[36m", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))

    def test_without_colour(self):
        shown = self.on_terminal(NO_COLOR="1")
        self.assertIn("multiexp", shown)
        self.assertNotRegex(shown, "\x1b\\[[0-9;]*m")

    def test_not_shown(self):
        self.assertEqual(self.on_terminal("--quiet"), "")
        self.assertEqual(self.on_terminal(TERM="dumb"), "")
        self.assertEqual(self.on_terminal(TERM=None), "")
        self.assertEqual(self.prove("poseidon_4").err, "")


class Help(ProgramTest):
    """Help, manual and completion agree."""

    def options_of(self, command):
        text = self.assert_ok(run(*command.split(), "--help")).out
        listed = text.split("\nOptions:\n")[1].split("\nExamples:\n")[0]
        found = re.findall(r"^  (?:(-\w), |    )--([\w-]+)", listed, re.M)
        self.assertTrue(found, command)
        return found

    def test_every_command_has_help_with_examples(self):
        listed = self.assert_ok(run("--help")).out
        self.assertEqual(run("help").out, listed)
        self.assertEqual(run("-h").out, listed)
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertIn(f"\n  {command} ", listed)
                text = self.assert_ok(run(*command.split(), "--help")).out
                self.assertEqual(text, run("help", *command.split()).out)
                self.assertEqual(text, run(*command.split(), "-h").out)
                self.assertRegex(text, f"^Usage: cuzk {command} ")
                self.assertRegex(text, "\nExamples:\n  .*cuzk ")
                self.assertLessEqual(max(map(len, text.splitlines())), 90)
        self.assertIn("Exit codes:", listed)

    def test_help_of_the_first_word_shows_all(self):
        for words in (["bench", "--help"], ["help", "bench"]):
            text = self.assert_ok(run(*words)).out
            self.assertIn("cuzk bench kernels", text)
            self.assertIn("cuzk bench h2d", text)
            self.assertIn("cuzk bench prove", text)

    def test_manual_names_every_option_and_command(self):
        for command in COMMANDS:
            page = (TOP / f"docs/man/cuzk-{command.split()[0]}.1").read_text().replace("\\-", "-")
            for letter, name in self.options_of(command):
                self.assertRegex(page, rf"\n\.B[RI]? .*--{name}\b", command)
                if letter:
                    self.assertRegex(page, rf"\n\.BR {letter} ", command)
            self.assertIn("EXIT STATUS", page)
        page = (TOP / "docs/man/cuzk.1").read_text().replace("\\-", "-")
        for command in COMMANDS:
            self.assertIn(f"\n.B {command}\n", page)

    def complete(self, *words):
        """What the shell offers for the last word."""
        script = ('source "$1"; shift; COMP_WORDS=(cuzk "$@"); COMP_CWORD=$#; _cuzk 2>/dev/null; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, "bash", TOP / "tools/completion/cuzk.bash", *words],
                                cwd=self.folder, capture_output=True, text=True, check=True)
        return [line for line in result.stdout.splitlines() if line]

    def test_completion_offers_every_command_and_option(self):
        first_words = {command.split()[0] for command in COMMANDS}
        self.assertLessEqual(first_words, set(self.complete("")))
        for command in COMMANDS:
            words = command.split()
            if len(words) == 2:
                self.assertIn(words[1], self.complete(words[0], ""))
            expected = sorted(f"--{name}" for _, name in self.options_of(command))
            self.assertEqual(sorted(self.complete(*words, "--")), expected, command)

    def test_completion_offers_files_by_their_ending(self):
        for name in ("a.zkey", "a.wtns", "a.r1cs", "a.json", "a.txt"):
            (self.folder / name).write_text("")
        (self.folder / "sub").mkdir()
        for option, name in (("--zkey", "a.zkey"), ("--wtns", "a.wtns"), ("--r1cs", "a.r1cs"), ("--proof", "a.json")):
            self.assertEqual(sorted(self.complete("prove", option, "")), [name, "sub"])
        self.assertEqual(sorted(self.complete("prove", "")), ["a.zkey", "sub"])
        self.assertEqual(sorted(self.complete("prove", "a.zkey", "")), ["a.wtns", "sub"])
        self.assertEqual(self.complete("prove", "--cpu", "p"), ["portable"])


if __name__ == "__main__":
    unittest.main()
