# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: running it, the golden files, a folder per test.

Tests run in the top folder with $CUZK set to the program."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

CUZK = str(Path(os.environ["CUZK"]).resolve())
TOP = Path.cwd()
GOLDEN = TOP / "tests" / "golden"
MODULUS = {"bn128": 21888242871839275222246405745257275088548364400416034343698204186575808495617,
           "bls12381": 52435875175126190479447740508185965837690552500527637822603658699938581184513}


def golden(circuit, name, curve="bn128"):
    return GOLDEN / curve / circuit / name


def split_notice(err):
    """The line of a build with CUDA on a machine without a GPU, which is no part of what tests ask about; the rest."""
    newline = b"\n" if isinstance(err, bytes) else "\n"
    start = b"cuzk: no usable GPU (" if isinstance(err, bytes) else "cuzk: no usable GPU ("
    if err is None or not err.startswith(start):
        return "", err
    notice, newline, rest = err.partition(newline)
    return notice + newline, rest


class Result:
    def __init__(self, args, process):
        self.args = " ".join(map(str, args))
        self.code = process.returncode
        self.out = process.stdout
        self.notice, self.err = split_notice(process.stderr)

    def __str__(self):
        return f"cuzk {self.args}\nexit code {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def run(*args, env=None, **how):
    """Runs the program; environment variables in `env` are added, or removed when None."""
    environment = {**os.environ, **(env or {})}
    environment = {k: v for k, v in environment.items() if v is not None}
    if "input" not in how:
        how.setdefault("stdin", subprocess.DEVNULL)
    if "input" not in how or isinstance(how["input"], str):
        how.setdefault("text", True)
    how.setdefault("stdout", subprocess.PIPE)
    how.setdefault("stderr", subprocess.PIPE)
    process = subprocess.run([CUZK, *map(str, args)], env=environment, timeout=120, **how)
    return Result(args, process)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="cuzk-test-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def listing(self):
        return sorted(p.name for p in self.folder.iterdir())

    def assert_ok(self, result):
        self.assertEqual(result.code, 0, result)
        return result

    def assert_fails(self, result, code, pattern):
        """Exit code, and one line of error with at most one line of advice."""
        self.assertEqual(result.code, code, result)
        err = result.err.decode() if isinstance(result.err, bytes) else result.err
        lines = err.splitlines()
        self.assertIn(len(lines), (1, 2), result)
        self.assertRegex(lines[0], "^cuzk: ", result)
        self.assertRegex(lines[0], pattern, result)
        for advice in lines[1:]:
            self.assertRegex(advice, "^try: .", result)
        return result

    def outputs(self):
        return self.folder / "proof.json", self.folder / "public.json"

    def prove(self, circuit="two", *options, curve="bn128", **how):
        return run("prove", *options, golden(circuit, "circuit_final.zkey", curve),
                   golden(circuit, "witness.wtns", curve), *self.outputs(), **how)

    def assert_valid(self, circuit="two", proof=None, public=None, curve="bn128"):
        default_proof, default_public = self.outputs()
        self.assert_ok(run("verify", golden(circuit, "verification_key.json", curve), public or default_public,
                           proof or default_proof))

    def bad_witness(self, circuit="two", curve="bn128"):
        """A witness with one private value changed."""
        data = bytearray(golden(circuit, "witness.wtns", curve).read_bytes())
        last = int.from_bytes(data[-32:], "little")
        data[-32:] = ((last + 1) % MODULUS[curve]).to_bytes(32, "little")
        path = self.folder / "bad.wtns"
        path.write_bytes(data)
        return path
