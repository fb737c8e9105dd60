#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_input.py [SECRET [POSITION [MESSAGE]]]: prints an input.json for circuit.circom.

The same hash as the circuit's, written a second time: if they differed there would be no witness."""
import json
import sys

R = 21888242871839275222246405745257275088548364400416034343698204186575808495617  # BN254


def mimc5(text, key):
    x, c = text, 0
    for i in range(110):
        c = (pow(c, 5, R) + i) % R
        x = pow(x + key + c, 5, R)
    return (x + key) % R


def hash2(left, right):
    return (mimc5(right, left) + left + right) % R


def main():
    secret, position, message = (int(x) for x in (sys.argv[1:] + ["1234567890", "2", "42"][len(sys.argv) - 1:]))
    members = [hash2(0, 1000 + i) for i in range(4)]
    members[position] = hash2(0, secret)
    level, sides, siblings = members, [], []
    while len(level) > 1:
        sides.append(position % 2)
        siblings.append(str(level[position ^ 1]))
        level = [hash2(level[i], level[i + 1]) for i in range(0, len(level), 2)]
        position //= 2
    print(json.dumps({"root": str(level[0]), "message": str(message), "secret": str(secret),
                      "side": [str(s) for s in sides], "sibling": siblings}, indent=1))


main()
