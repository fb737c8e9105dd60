// SPDX-License-Identifier: Apache-2.0
// "I know the secret behind one of the leaves of this tree, and I sign this message with it."
//
// A Merkle tree over commitments: the statement tells the root and the message, and hides which
// leaf it is. An example: the hash is MiMC with the exponent 5 and was not audited.
pragma circom 2.1.0;

// E_key(text): 110 rounds of x -> (x + key + c_i)^5. x^5 permutes the scalar fields of BN254
// and BLS12-381, and 5^110 > 2^255. The constants are c_0 = 0, c_i = c_{i-1}^5 + i, hence
// nobody chose them.
template MiMC5() {
    signal input text;
    signal input key;
    signal output out;
    var ROUNDS = 110;
    signal x[ROUNDS + 1];
    signal square[ROUNDS];
    signal fourth[ROUNDS];
    var c = 0;
    x[0] <== text;
    for (var i = 0; i < ROUNDS; i++) {
        if (i > 0) c = c ** 5 + i;
        square[i] <== (x[i] + key + c) * (x[i] + key + c);
        fourth[i] <== square[i] * square[i];
        x[i + 1] <== fourth[i] * (x[i] + key + c);
    }
    out <== x[ROUNDS] + key;
}

// Miyaguchi-Preneel: two field elements into one.
template Hash() {
    signal input left;
    signal input right;
    signal output out;
    component cipher = MiMC5();
    cipher.text <== right;
    cipher.key <== left;
    out <== cipher.out + left + right;
}

template Membership(DEPTH) {
    signal input root;           // public
    signal input message;        // public
    signal input secret;
    signal input side[DEPTH];    // 1: our node is the right one
    signal input sibling[DEPTH];

    component hash[DEPTH + 1];
    signal node[DEPTH + 1];
    signal shift[DEPTH];
    hash[0] = Hash();
    hash[0].left <== 0;
    hash[0].right <== secret;
    node[0] <== hash[0].out;
    for (var i = 0; i < DEPTH; i++) {
        side[i] * (side[i] - 1) === 0;
        shift[i] <== side[i] * (sibling[i] - node[i]);
        hash[i + 1] = Hash();
        hash[i + 1].left <== node[i] + shift[i];
        hash[i + 1].right <== sibling[i] - shift[i];
        node[i + 1] <== hash[i + 1].out;
    }
    root === node[DEPTH];

    signal bound;                // ties the message to the proof: it can't be exchanged
    bound <== message * message;
}

component main {public [root, message]} = Membership(2);
