#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged twins of the golden files, through the program: the exit code, and one line of error
that names the file and the place. Every magic, version, count, length, index and field element
of every format has its twins here; cuts at every byte are in the unit tests of the formats."""
import json
import os
import struct
import subprocess
import unittest

from program import CUZK, MODULUS, ProgramTest, golden, run

BASE = {"bn128": 21888242871839275222246405745257275088696311157297823662689037894645226208583,
        "bls12381": 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab}
CURVES = ("bn128", "bls12381")
U32_MAX = 0xffffffff
COORDINATE = {"bn128": 32, "bls12381": 48} # bytes
PLACE = r"section \d+|offset \d+"


def patch(data, at, new):
    return data[:at] + new + data[at + len(new):]


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def put_u32(data, at, value):
    return patch(data, at, struct.pack("<I", value & U32_MAX))


class Container:
    """magic, version, number of sections; each section: id, length, bytes."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.sections = {} # id -> (offset of its head, offset of its bytes, length)
        at = 12
        for _ in range(u32(self.data, 8)):
            number, length = struct.unpack_from("<IQ", self.data, at)
            self.sections[number] = (at, at + 12, length)
            at += 12 + length

    def start(self, number):
        return self.sections[number][1]

    def length(self, number):
        return self.sections[number][2]

    def put(self, at, value):
        return put_u32(self.data, at, value)

    def resized(self, number, change):
        """The section longer by zeros or shorter, its length too: a well-formed container."""
        head, start, length = self.sections[number]
        body = (self.data[start:start + length] + b"\0" * max(change, 0))[:length + change]
        return self.data[:head + 4] + struct.pack("<Q", len(body)) + body + self.data[start + length:]

    def without(self, number):
        head, start, length = self.sections[number]
        return put_u32(self.data[:head] + self.data[start + length:], 8, len(self.sections) - 1)

    def repeated(self, number):
        head, start, length = self.sections[number]
        return put_u32(self.data + self.data[head:start + length], 8, len(self.sections) + 1)

    def container_twins(self, needed, magic, version):
        """Twins that need no knowledge of what is inside."""
        data = self.data
        yield "empty", b"", r"magic|empty|ends|too short|0 bytes"
        for i in range(4):
            yield f"magic byte {i}", patch(data, i, bytes([data[i] ^ 1])), magic
        for value in (0, version + 1, 99, U32_MAX):
            yield f"version {value}", self.put(4, value), "version"
        for value in (0, len(self.sections) - 1, len(self.sections) + 1, U32_MAX):
            yield f"{value} sections", self.put(8, value), "section"
        for n in (3, 4, 11, 12, 13, 23, 24, len(data) - 1):
            yield f"cut to {n} bytes", data[:n], PLACE + "|bytes"
        yield "a byte too many", data + b"\0", r"byte|end|after"
        for number in needed:
            head, start, length = self.sections[number]
            yield f"cut in section {number}", data[:start + length // 2], PLACE
            yield f"section {number} of another id", self.put(head, 4242), f"section {number}"
            yield f"section {number} twice", self.repeated(number), f"section {number}"
            yield f"section {number} missing", self.without(number), f"section {number}"
            for change in (-1, 1, 4, -length):
                yield f"section {number} resized by {change}", self.resized(number, change), PLACE
            for wrong in (length + 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1, (1 << 64) - start):
                yield f"section {number} of {wrong} bytes", patch(data, head + 4, struct.pack("<Q", wrong)), PLACE


class DamagedTest(ProgramTest):
    def refuse(self, twins, suffix, *commands, code=3):
        """Every command refuses every twin; "%" in a command stands for the damaged file."""
        path = self.folder / f"damaged{suffix}"
        n_twins = 0
        for name, data, pattern in twins:
            path.write_bytes(data)
            for command in commands:
                with self.subTest(twin=name, command=command[0]):
                    result = run(*[path if part == "%" else part for part in command])
                    self.assert_fails(result, code, f"^cuzk: {path}: .*({pattern})")
                    n_twins += 1
        self.assertGreater(n_twins, 0)
        self.assertEqual(self.listing(), [path.name]) # and nothing was written


class Zkey(DamagedTest):
    NEEDED = range(1, 10)

    def prove(self, curve):
        return ["prove", "%", golden("two", "witness.wtns", curve), *self.outputs()]

    def test_container(self):
        zkey = Container(golden("two", "circuit_final.zkey"))
        self.refuse(zkey.container_twins(self.NEEDED, "magic|zkey", 1), ".zkey", self.prove("bn128"))
        unknown = "not a file this program knows" # it goes by the magic
        self.refuse(((name, data, f"{unknown}|{pattern}") for name, data, pattern in zkey.container_twins([2, 4, 9], unknown, 1)),
                    ".zkey", ["inspect", "%"])

    def header_twins(self, curve):
        zkey = Container(golden("two", "circuit_final.zkey", curve))
        protocol, header = zkey.start(1), zkey.start(2)
        for value in (0, 2, U32_MAX):
            yield f"protocol {value}", zkey.put(protocol, value), "section 1 .*protocol"
        n_q = u32(zkey.data, header)
        n_r = u32(zkey.data, header + 4 + n_q)
        for at, name in ((header, "q"), (header + 4 + n_q, "r")):
            for value in (0, 31, 33, 1 << 31, U32_MAX):
                yield f"{value} bytes of {name}", zkey.put(at, value), PLACE
            yield f"another {name}", patch(zkey.data, at + 4, b"\x03"), PLACE
        counts = header + 8 + n_q + n_r
        for i, name in enumerate(("values", "public signals", "domain")):
            now = u32(zkey.data, counts + 4 * i)
            for value in (0, now - 1, now + 1, 2 * now, 1 << 31, U32_MAX):
                if value == now or value == U32_MAX - 1 or (name == "public signals" and value in (0,) and now == 0):
                    continue
                yield f"{value} for {name}", zkey.put(counts + 4 * i, value), PLACE

    def test_header(self):
        for curve in CURVES:
            self.refuse(self.header_twins(curve), ".zkey", self.prove(curve))

    def coefficient_twins(self, curve):
        zkey = Container(golden("two", "circuit_final.zkey", curve))
        start, n_vars = zkey.start(4), zkey.length(5) // (2 * COORDINATE[curve])
        count = u32(zkey.data, start)
        for value in (0, count - 1, count + 1, 1 << 31, U32_MAX):
            yield f"{value} coefficients", zkey.put(start, value), "section 4"
        domain = u32(zkey.data, zkey.start(2) + zkey.length(2) - 18 * COORDINATE[curve] - 4)
        for i in (0, count // 2, count - 1):
            at = start + 4 + 44 * i
            for offset, name, limit in ((0, "matrix", 2), (4, "constraint", domain), (8, "signal", n_vars)):
                for value in (limit, 1 << 31, U32_MAX):
                    yield f"coefficient {i} of {name} {value}", zkey.put(at + offset, value), f"coefficient {i}:"

    def test_coefficients(self):
        for curve in CURVES:
            self.refuse(self.coefficient_twins(curve), ".zkey", self.prove(curve))

    def element_twins(self, curve):
        """One coordinate of each point section, and of each point of the header: not below q, and
        another value (off the curve); one coefficient not below r."""
        zkey = Container(golden("two", "circuit_final.zkey", curve))
        n = COORDINATE[curve]
        high = BASE[curve].to_bytes(n, "little")
        header = zkey.start(2) + zkey.length(2) - 18 * n # 3 points of G1, 3 of G2
        sections = ((3, "IC"), (5, "A"), (6, "B1"), (7, "B2"), (8, "L"), (9, "H"))
        places = [(rf"{name}\[\d+\]", zkey.start(s) + n * k) for s, name in sections for k in (0, 1)]
        places += [("alpha|beta|gamma|delta", header + n * k) for k in range(18)]
        for pattern, at in places:
            if any(zkey.data[at:at + n]):
                yield f"q at {at}", patch(zkey.data, at, high), pattern
                yield f"another coordinate at {at}", patch(zkey.data, at, bytes([zkey.data[at] ^ 1])), pattern
        value = zkey.start(4) + 4 + 12
        yield "coefficient r", patch(zkey.data, value, MODULUS[curve].to_bytes(32, "little")), "coefficient 0:"

    def test_elements(self):
        for curve in CURVES:
            self.refuse(self.element_twins(curve), ".zkey", ["inspect", "--check", "%"])

    def constant_twins(self, curve):
        """With beta1, delta1 and B1 at infinity nothing would blind A, and the proof would verify."""
        zkey, n = Container(golden("two", "circuit_final.zkey", curve)), COORDINATE[curve]
        at = zkey.start(2) + zkey.length(2) - 18 * n
        for name, n_bytes in (("alpha1", 2 * n), ("beta1", 2 * n), ("beta2", 4 * n), ("gamma2", 4 * n), ("delta1", 2 * n),
                              ("delta2", 4 * n)):
            data = patch(zkey.data, at, bytes(n_bytes))
            yield f"{name} at infinity", data, f"{name}.*infinity"
            if name == "delta1":
                beta1 = at - 10 * n
                data = patch(patch(data, beta1, bytes(2 * n)), zkey.start(6), bytes(zkey.length(6)))
                yield "nothing to blind A", data, "infinity"
            at += n_bytes

    def test_constants_at_infinity(self):
        for curve in CURVES:
            self.refuse(self.constant_twins(curve), ".zkey", ["inspect", "--check", "%"], self.prove(curve))

    def test_damaged_point_is_found_out_when_proving(self):
        """Opening a key looks at no point; the check of the finished proof does."""
        zkey = Container(golden("two", "circuit_final.zkey"))
        twin = ("point of L", patch(zkey.data, zkey.start(8), bytes([zkey.data[zkey.start(8)] ^ 1])), "damaged")
        self.refuse([twin], ".zkey", [*self.prove("bn128"), "--r1cs", golden("two", "circuit.r1cs")])
        self.refuse([(twin[0], twin[1], "")], ".zkey", ["inspect", "--check", "%"])

    def test_other_files(self):
        twins = [(name, golden("two", name).read_bytes(), "") for name in
                 ("witness.wtns", "circuit.r1cs", "verification_key.json")]
        self.refuse(twins, ".zkey", self.prove("bn128"))

    def test_coordinates_not_below_q_never_crash_the_prover(self):
        """Proving does not look at each point, so it may see them as what they are modulo q."""
        path = self.folder / "damaged.zkey"
        for curve in CURVES:
            zkey, n, command = Container(golden("two", "circuit_final.zkey", curve)), COORDINATE[curve], self.prove(curve)
            for section, name in ((5, "A"), (6, "B1"), (7, "B2"), (8, "L"), (9, "H"), (3, "IC")):
                at, end = zkey.start(section), zkey.start(section) + zkey.length(section)
                for place in range(at, end, n):
                    now = int.from_bytes(zkey.data[place:place + n], "little")
                    for value in (now + BASE[curve], (1 << 8 * n) - 1):
                        if value >= 1 << 8 * n:
                            continue
                        path.write_bytes(patch(zkey.data, place, value.to_bytes(n, "little")))
                        with self.subTest(curve=curve, section=name, coordinate=(place - at) // n, value=value):
                            result = run(*[path if part == "%" else part for part in command])
                            self.assertIn(result.code, (3, 4), result)
                            self.assertEqual(self.listing(), [path.name])


class Wtns(DamagedTest):
    def commands(self, curve="bn128"):
        return (["prove", golden("two", "circuit_final.zkey", curve), "%", *self.outputs()],
                ["inspect", "%"])

    def test_container(self):
        wtns = Container(golden("two", "witness.wtns"))
        self.refuse(wtns.container_twins([1, 2], "magic|wtns", 2), ".wtns", self.commands()[0])

    def header_twins(self):
        wtns = Container(golden("two", "witness.wtns"))
        start = wtns.start(1)
        for value in (0, 31, 33, 1 << 31, U32_MAX):
            yield f"{value} bytes of r", wtns.put(start, value), PLACE
        yield "another r", patch(wtns.data, start + 4, b"\x03"), PLACE
        count = u32(wtns.data, start + 36)
        for value in (0, count - 1, count + 1, 1 << 27, U32_MAX):
            yield f"{value} values", wtns.put(start + 36, value), PLACE

    def test_header(self):
        self.refuse(self.header_twins(), ".wtns", *self.commands())

    def test_values(self):
        """A value that is not below r, and a first value that is not one: the witness is wrong."""
        for curve in CURVES:
            wtns = Container(golden("two", "witness.wtns", curve))
            start, r = wtns.start(2), MODULUS[curve]
            twins = []
            for i in range(wtns.length(2) // 32):
                now = int.from_bytes(wtns.data[start + 32 * i:start + 32 * i + 32], "little")
                for value in {r, (1 << 256) - 1, now + r}:
                    if value < 1 << 256:
                        twins.append((f"value {i}", patch(wtns.data, start + 32 * i, value.to_bytes(32, "little")),
                                      rf"value {i}\b"))
            twins.append(("first value 2", patch(wtns.data, start, b"\x02"), "value 0|first value"))
            self.refuse(twins, ".wtns", self.commands(curve)[0], code=4)

    def test_every_changed_value(self):
        """Another value for any signal: the witness does not satisfy the circuit."""
        for curve in CURVES:
            wtns = Container(golden("two", "witness.wtns", curve))
            twins = []
            for i in range(1, wtns.length(2) // 32):
                at = wtns.start(2) + 32 * i
                twins.append((f"value {i}", patch(wtns.data, at, bytes([wtns.data[at] ^ 1])), "does not satisfy"))
            self.refuse(twins, ".wtns", self.commands(curve)[0], code=4)


class R1cs(DamagedTest):
    def commands(self, curve="bn128"):
        return (["witness", "check", "--wtns", golden("two", "witness.wtns", curve), "--r1cs", "%"],
                ["setup", "--insecure", "-q", "--zkey", self.folder / "x.insecure.zkey", "--r1cs", "%"])

    def assert_fails(self, result, code, pattern):
        result.err = "".join(l for l in result.err.splitlines(True) if "INSECURE" not in l) # of setup
        return super().assert_fails(result, code, pattern)

    def test_container(self):
        r1cs = Container(golden("two", "circuit.r1cs"))
        self.refuse(r1cs.container_twins([1, 2], "magic|r1cs", 1), ".r1cs", *self.commands())

    def header_twins(self):
        r1cs = Container(golden("two", "circuit.r1cs"))
        start = r1cs.start(1)
        for value in (0, 31, 33, 1 << 31, U32_MAX):
            yield f"{value} bytes of r", r1cs.put(start, value), PLACE
        yield "another r", patch(r1cs.data, start + 4, b"\x03"), PLACE
        n_constraints = u32(r1cs.data, start + 60)
        for value in (0, 1, U32_MAX):
            yield f"{value} wires", r1cs.put(start + 36, value), PLACE
        for i, name in enumerate(("public outputs", "public inputs")):
            yield f"{U32_MAX} {name}", r1cs.put(start + 40 + 4 * i, U32_MAX), PLACE
        for value in (0, n_constraints - 1, n_constraints + 1, U32_MAX):
            yield f"{value} constraints", r1cs.put(start + 60, value), PLACE + "|constraint"

    def test_header(self):
        self.refuse(self.header_twins(), ".r1cs", *self.commands())

    def constraint_twins(self, curve):
        """The number of terms, and every wire and value, of every linear combination."""
        r1cs = Container(golden("two", "circuit.r1cs", curve))
        n_wires = u32(r1cs.data, r1cs.start(1) + 36)
        at, end, k = r1cs.start(2), r1cs.start(2) + r1cs.length(2), 0
        while at < end:
            count, place = u32(r1cs.data, at), f"constraint {k // 3}"
            for value in (1 << 28, U32_MAX): # one more may well be another valid circuit
                yield f"{value} terms, {place}", r1cs.put(at, value), PLACE + "|constraint"
            for i in range(count):
                term = at + 4 + 36 * i
                for value in (n_wires, 1 << 31, U32_MAX):
                    yield f"wire {value}, {place}", r1cs.put(term, value), place
                high = MODULUS[curve].to_bytes(32, "little")
                yield f"value r, {place}", patch(r1cs.data, term + 4, high), place
            at += 4 + 36 * count
            k += 1

    def test_constraints(self):
        for curve in CURVES:
            self.refuse(self.constraint_twins(curve), ".r1cs", *self.commands(curve))


class Json(DamagedTest):
    """verification_key.json, proof.json, public.json: each member missing, of another type, and
    each number not a number, not below the modulus, or another one."""

    # What snarkjs reads, we read: leading zeros, hexadecimal after 0x, and whole numbers without quotes.
    NOT_NUMBERS = ("", "-1", "+1", "0x", "0xg", "1.0", "1e3", " 1", "1 ", "abc", None, 1.5, -1, True, [], {})

    def files(self, curve):
        return [golden("two", name, curve) for name in ("verification_key.json", "public.json", "proof.json")]

    def refuse_json(self, curve, which, twins, code=3):
        files = self.files(curve)
        command = ["verify", *files]
        command[1 + which] = "%"
        texts = ((name, value if isinstance(value, bytes) else json.dumps(value).encode(), pattern)
                 for name, value, pattern in twins)
        if code == 3:
            self.refuse(texts, ".json", command)
            return
        path = self.folder / "damaged.json"
        for name, text, _ in texts:
            path.write_bytes(text)
            with self.subTest(twin=name):
                result = run(*[path if part == "%" else part for part in command])
                self.assertEqual((result.code, result.err), (1, ""), result)
                self.assertRegex(result.out, "^not valid: .")

    @staticmethod
    def leaves(value, place=()):
        """(path, number text) of everything that is a decimal number."""
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from Json.leaves(inner, (*place, key))
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                yield from Json.leaves(inner, (*place, i))
        elif isinstance(value, str) and value.isdigit():
            yield place, value

    @staticmethod
    def replaced(value, place, new):
        if not place:
            return new
        copy = value.copy()
        copy[place[0]] = Json.replaced(value[place[0]], place[1:], new)
        return copy

    def load(self, curve, which):
        value = json.loads(self.files(curve)[which].read_text())
        if isinstance(value, dict):
            value.pop("vk_alphabeta_12", None) # follows from the rest; nobody needs it
        return value

    def test_texts(self):
        for which, path in enumerate(self.files("bn128")):
            text = path.read_bytes().rstrip()
            twins = [("empty", b"", ""), ("cut", text[:-1], ""), ("trailing text", text + b" x", ""), ("NUL", text + b"\0", ""),
                     ("NUL in a string", text.replace(b"1", b"\\u0000", 1), ""),
                     ("binary", golden("two", "witness.wtns").read_bytes(), ""), ("null", b"null", ""), ("number", b"7", ""),
                     ("other kind", b"{}" if which == 1 else b"[]", ""), ("deep", b"[" * 100000, ""),
                     ("not UTF-8", text.replace(b"1", b"\xff", 1), "")]
            self.refuse_json("bn128", which, twins)

    def test_members(self):
        for which, required in ((0, ["protocol", "curve", "nPublic", "vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"]),
                                (2, ["pi_a", "pi_b", "pi_c"])):
            value = self.load("bn128", which)
            for name in required:
                rest = {k: v for k, v in value.items() if k != name}
                twins = [(f"no {name}", rest, name)]
                twins += [(f"{name} of type {type(x).__name__}", {**rest, name: x}, name) for x in (None, True, {}, "x")]
                twins.append((f"{name} twice", json.dumps(value)[:-1].encode() +
                              f', "{name}": {json.dumps(value[name])}}}'.encode(), ""))
                self.refuse_json("bn128", which, twins)
            self.refuse_json("bn128", which, [("protocol", {**value, "protocol": "plonk"}, "protocol"),
                                              ("curve", {**value, "curve": "bls12377"}, "curve")])
        self.refuse_json("bn128", 2, [("curve of the other", {**self.load("bn128", 2), "curve": "bls12381"}, "curve"),
                                      ("member that nobody knows", {**self.load("bn128", 2), "pi_d": []}, "pi_d")])

    def test_counts(self):
        vkey = self.load("bn128", 0)
        twins = [(f"nPublic {n}", {**vkey, "nPublic": n}, "nPublic|IC") for n in (-1, 0, 1, 3, 1 << 31, 1 << 32, "2", 2.5)]
        twins += [("IC short", {**vkey, "IC": vkey["IC"][:-1]}, "IC"), ("IC long", {**vkey, "IC": vkey["IC"] * 2}, "IC")]
        self.refuse_json("bn128", 0, twins)
        proof = self.load("bn128", 2)
        shapes = [("pi_a", proof["pi_a"][:2]), ("pi_a", proof["pi_a"] * 2), ("pi_a", []), ("pi_b", proof["pi_b"][:1]),
                  ("pi_b", proof["pi_b"][::2]), ("pi_b", proof["pi_a"]), ("pi_c", proof["pi_b"])]
        self.refuse_json("bn128", 2, [(f"shape of {name}", {**proof, name: value}, name) for name, value in shapes])
        publics = self.load("bn128", 1)
        self.refuse_json("bn128", 1, [(f"{n} signals", (publics * 2)[:n], "") for n in (0, 1, 3)], code=1)

    def test_numbers_that_are_none(self):
        for which in range(3):
            value = self.load("bn128", which)
            for place, _ in self.leaves(value):
                name = str(place[0]) if which != 1 else "signal"
                twins = [(f"{place}: {new!r}", self.replaced(value, place, new), name) for new in
                         (self.NOT_NUMBERS if place[-1] == 0 else self.NOT_NUMBERS[:3])]
                self.refuse_json("bn128", which, twins)

    def test_points_outside_the_group(self):
        """On the curve, but of another order: verify and inspect --check look at each point. Only
        G1 of BN254 has no such points."""
        outside = ["0", "2", "1"] # of E(Fq) of BLS12-381: y^2 = x^3 + 4
        vkey, proof = self.load("bls12381", 0), self.load("bls12381", 2)
        check = ["inspect", "--check", "%"]
        verify = ["verify", "%", *self.files("bls12381")[1:]]
        twins = [("vk_alpha_1", {**vkey, "vk_alpha_1": outside}, "vk_alpha_1 is not in the group G1")]
        for i in range(len(vkey["IC"])):
            twins.append((f"IC[{i}]", self.replaced(vkey, ("IC", i), outside), rf"IC\[{i}\] is not in the group G1"))
        self.refuse(((name, json.dumps(value).encode(), says) for name, value, says in twins), ".json", check, verify)
        twins = [(name, {**proof, name: outside}, f"{name} is not in the group G1") for name in ("pi_a", "pi_c")]
        self.refuse(((name, json.dumps(value).encode(), says) for name, value, says in twins), ".json", check)
        self.refuse_json("bls12381", 2, twins, code=1)

    def test_constants_at_infinity(self):
        """No setup makes such a key, and a pairing with one of them says nothing."""
        g1, g2 = ["0", "1", "0"], [["0", "0"], ["1", "0"], ["0", "0"]]
        for curve in CURVES:
            vkey = self.load(curve, 0)
            twins = [(name, json.dumps({**vkey, name: g1 if name == "vk_alpha_1" else g2}).encode(), f"{name}.*infinity")
                     for name in ("vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2")]
            self.refuse(twins, ".json", ["verify", "%", *self.files(curve)[1:]], ["inspect", "--check", "%"])

    def test_many_small_values(self):
        """A text that would take tens of times its size when parsed is refused in the memory of a
        small one."""
        n = 8 << 20
        twins = [("arrays", b"[" + b"[]," * n + b"[]]"), ("objects", b"[" + b"{}," * n + b"{}]"),
                 ("numbers", b"[" + b"1," * n + b"1]")]
        path = self.folder / "damaged.json"
        for name, text in twins:
            path.write_bytes(text)
            for command in (["inspect", path], ["verify", path, *self.files("bn128")[1:]],
                            ["verify", self.files("bn128")[0], path, self.files("bn128")[2]]):
                with self.subTest(twin=name, command=command):
                    process = subprocess.Popen([CUZK, *map(str, command)], stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL)
                    _, status, usage = os.wait4(process.pid, 0)
                    process.returncode = os.waitstatus_to_exitcode(status)
                    self.assertIn(process.returncode, (3,) if "inspect" in command else (1, 3))
                    self.assertLess(usage.ru_maxrss, 256 << 10) # KiB

    def test_other_numbers(self):
        """Well formed, but another value: a key off its curve is damaged; a proof is not valid, or
        no proof at all when its points are not affine."""
        for curve in CURVES:
            for which, modulus in ((0, BASE[curve]), (1, MODULUS[curve]), (2, BASE[curve])):
                value = self.load(curve, which)
                twins = []
                for place, text in self.leaves(value):
                    is_projective = which == 2 and place[1] == 2
                    for new in (int(text) + modulus, int(text) + 1, 10 ** 400):
                        if not is_projective:
                            twins.append((f"{place} {new}", self.replaced(value, place, str(new)), str(place[0])))
                self.refuse_json(curve, which, twins, code=3 if which == 0 else 1)


if __name__ == "__main__":
    unittest.main()
